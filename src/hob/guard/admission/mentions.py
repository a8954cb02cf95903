"""Whether a message in a group is for Hob."""

import re
from collections.abc import Sequence
from functools import cache

from hob.core.messages import Inbound


def is_meant(inbound: Inbound, trigger: str, names: Sequence[str]) -> bool:
    """By the platform's own mention, by the word it has to begin with, or by a name.

    Where a trigger is set, a mention does as well; a name in the middle of a sentence does not.
    """
    if inbound.mentioned or begins_with(inbound.text, trigger):
        return True
    return not trigger and any(_whole_word(name).search(inbound.text) for name in names if name)


def begins_with(text: str, trigger: str) -> bool:
    """Whether the text begins with this word, in any case."""
    return bool(trigger) and _beginning(trigger).match(text) is not None


def without_trigger(text: str, trigger: str) -> str:
    """The text after the word it begins with; all of it where it does not, or where nothing follows."""
    match = _beginning(trigger).match(text) if trigger else None
    return text if match is None else text[match.end() :] or text


@cache  # there are as many as channels in the settings
def _beginning(trigger: str) -> re.Pattern[str]:
    return re.compile(rf"\s{{0,8}}{re.escape(trigger)}(?![\w-])[\s,:;.!]{{0,8}}", re.IGNORECASE)


@cache
def _whole_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
