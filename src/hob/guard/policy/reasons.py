"""Reasons for judgements in words for people. Cheap to import, for code that only shows questions."""

from hob.core.translation.language import Translatable, translatable

RISK = "{reason} ({rule})"
"""The reason given for a finding of a shell rule."""


def strip_rule(reason: str) -> str:
    """Remove the name of the shell rule from a reason."""
    if not isinstance(reason, Translatable):
        return reason
    values = {name: strip_rule(each) if isinstance(each, str) else each for name, each in reason.values.items()}
    return str(values["reason"]) if reason.message == RISK else Translatable(reason.message, values)


def add_taint(reason: str, why: str) -> Translatable:
    """Append what the turn has read to a reason."""
    return translatable("{reason}, and {why}", reason=reason, why=why)


def strip_taint(reason: str) -> str:
    """Return only what the call itself would do or lacks, without the shell rule and what the turn has read."""
    bare = strip_rule(reason)
    if isinstance(bare, Translatable) and {*bare.values} == {"reason", "why"}:
        return str(bare.values["reason"])
    return bare
