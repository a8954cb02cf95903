"""Remarks beside an answer: another model gave it, something was left out, a command could be written down.

A remark is shown at once to anyone who looks, journalled with the step it belongs to, and told once with the turn's
outcome. It is never an entry of the transcript, so no model reads it as its own words.
"""

from collections.abc import Iterable

from hob.core.models import Remark
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Step, ToolReceived
from hob.core.translation.sentences import Sentence, say

_TELLING = ModelAsked | ModelReplied | ModelFailed | ToolReceived
_MAX_CHARS = 500  # names in it may come from a server


def render(remark: Remark, language: str) -> str:
    """The remark as one line for people; one whose sentence Hob does not have is shown as it is."""
    values = dict(remark.values)
    try:
        text = say(Sentence(remark.sentence.lower()), language, **values)
    except (KeyError, ValueError):  # a provider of somebody else
        text = " ".join((remark.sentence, *values.values()))
    text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split())[:_MAX_CHARS]


def remarks_of(steps: Iterable[Step]) -> tuple[str, ...]:
    """What the journal holds of them, each once, in order."""
    made = (step.remarks for step in steps if isinstance(step, _TELLING))
    return tuple(dict.fromkeys(line for lines in made for line in lines))
