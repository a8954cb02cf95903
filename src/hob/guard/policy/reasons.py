"""Why a call was judged as it was, as people read it. Light: a question is shown where nothing is judged."""

from hob.core.translation.language import Translatable

RISK = "{reason} ({rule})"
"""What a rule of the shell found, as a reason."""


def without_rule(reason: str) -> str:
    """What was found, for people: without the name of the rule of the shell that found it."""
    if not isinstance(reason, Translatable):
        return reason
    values = {name: without_rule(each) if isinstance(each, str) else each for name, each in reason.values.items()}
    return str(values["reason"]) if reason.message == RISK else Translatable(reason.message, values)
