"""Why a call was judged as it was, as people read it. Light: a question is shown where nothing is judged."""

from hob.core.translation.language import Translatable, translatable

RISK = "{reason} ({rule})"
"""What a rule of the shell found, as a reason."""


def without_rule(reason: str) -> str:
    """What was found, for people: without the name of the rule of the shell that found it."""
    if not isinstance(reason, Translatable):
        return reason
    values = {name: without_rule(each) if isinstance(each, str) else each for name, each in reason.values.items()}
    return str(values["reason"]) if reason.message == RISK else Translatable(reason.message, values)


def tainted(reason: str, why: str) -> Translatable:
    """A reason that counts because of what the turn has read."""
    return translatable("{reason}, and {why}", reason=reason, why=why)


def without_taint(reason: str) -> str:
    """What the call itself would do or lacks: neither the rule of the shell nor what the turn has read."""
    bare = without_rule(reason)
    if isinstance(bare, Translatable) and {*bare.values} == {"reason", "why"}:
        return str(bare.values["reason"])
    return bare
