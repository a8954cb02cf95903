"""Names of models: those under which an owner sets prices and limits, and what a model knows of names."""

import re
from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

_DATE = re.compile(r"[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$")


def names_of(*references: str) -> Iterator[str]:
    """All names of the model with these references, the most exact first.

    The whole reference, then without its provider, without all before the last slash, and each of these without the
    date at its end: `openrouter/openai/gpt-5-2025-08-07`, `openai/gpt-5-2025-08-07`, ..., `gpt-5`.
    """
    parts = [name for each in references for name in (each, each.partition("/")[2], each.rpartition("/")[2])]
    for name in dict.fromkeys((*parts, *map(undated, parts))):
        if name:
            yield name


def undated(name: str) -> str:
    """The name without the date at its end."""
    return _DATE.sub("", name)


def fits(pattern: str, reference: str) -> bool:
    """Whether the pattern is one of the model's names, or ends in `*` and one of them begins like it."""
    if pattern.endswith("*"):
        return any(name.startswith(pattern[:-1]) for name in names_of(reference))
    return any(name == pattern for name in names_of(reference))


@runtime_checkable
class ChecksNames(Protocol):
    """A model that knows which names lead somewhere."""

    async def check_ref(self, name: str) -> str | None:
        """Why nothing can be asked by this name, or may not be, in a sentence for people; None where it can.

        A bare name is looked up in its server's list; no model is asked.
        """


@runtime_checkable
class HasAliases(Protocol):
    """A model that goes by names of the owner's own, too."""

    @property
    def aliases(self) -> Mapping[str, str]: ...
