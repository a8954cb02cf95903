"""Model names: the names used for prices and limits, and models that know their own names."""

import re
from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

_DATE = re.compile(r"[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$")


def iter_names(*references: str) -> Iterator[str]:
    """Yield all names of the model with these references, the most specific first.

    First the whole reference, then without the provider, then only the part after the last slash, and each of these
    without the date at its end: `openrouter/openai/gpt-5-2025-08-07`, `openai/gpt-5-2025-08-07`, ..., `gpt-5`.
    """
    parts = [name for each in references for name in (each, each.partition("/")[2], each.rpartition("/")[2])]
    for name in dict.fromkeys((*parts, *map(strip_date, parts))):
        if name:
            yield name


def strip_date(name: str) -> str:
    """Return the name without the date at its end."""
    return _DATE.sub("", name)


def matches_model(pattern: str, reference: str) -> bool:
    """Whether the pattern is one of the model's names, or ends in `*` and is a prefix of one."""
    if pattern.endswith("*"):
        return any(name.startswith(pattern[:-1]) for name in iter_names(reference))
    return any(name == pattern for name in iter_names(reference))


@runtime_checkable
class ChecksModelNames(Protocol):
    """A model that can check whether a name is usable."""

    async def check_ref(self, name: str) -> str | None:
        """Return why this name cannot or may not be used, as a sentence for people; None if it can.

        A bare name is looked up in its server's list; no model is called.
        """


@runtime_checkable
class HasAliases(Protocol):
    """A model that also accepts aliases defined by the owner."""

    @property
    def aliases(self) -> Mapping[str, str]: ...
