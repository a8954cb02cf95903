"""Remarks that accompany a reply: another model answered, something was left out, a command could be saved.

A remark is published at once, journalled with its step, and delivered once with the turn's outcome. It is never a
transcript entry, so no model reads it as its own words.
"""

from collections.abc import Iterable

from hob.core.models import Remark
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Step, ToolReceived
from hob.core.translation.sentences import Sentence, say

_TELLING = ModelAsked | ModelReplied | ModelFailed | ToolReceived
_MAX_CHARS = 500  # it may contain names from a server


def render(remark: Remark, language: str) -> str:
    """Return the remark as one line of text. An unknown sentence is shown as it is."""
    values = dict(remark.values)
    try:
        text = say(Sentence(remark.sentence.lower()), language, **values)
    except (KeyError, ValueError):  # of a third-party provider
        text = " ".join((remark.sentence, *values.values()))
    text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split())[:_MAX_CHARS]


def remarks_of(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the remarks in the journal, each once, in order."""
    made = (step.remarks for step in steps if isinstance(step, _TELLING))
    return tuple(dict.fromkeys(line for lines in made for line in lines))
