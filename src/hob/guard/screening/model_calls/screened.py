"""The result of the prompt guard: a request that may be sent, or the reason for refusing it."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelRequest
from hob.core.screening.kinds import describe_kinds
from hob.core.translation.language import translatable
from hob.core.translation.remarks import Remark
from hob.core.values import dataclass
from hob.guard.screening.model_calls.settings import ScreeningAction

DENIED = "deny_words"


@dataclass(frozen=True, slots=True)
class Screened:
    """A request as it may be sent, and what was found in it.

    Implements the providers' `ScreenedRequest`. `action` is the strictest action taken.
    """

    request: ModelRequest
    action: ScreeningAction = ScreeningAction.OFF
    kinds: tuple[str, ...] = ()
    restore: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    @property
    def local_only(self) -> bool:
        return self.action is ScreeningAction.LOCAL

    def refusal(self) -> ModelError:
        return refusal(self.kinds, local_only=True)


def refusal(kinds: tuple[str, ...], place: str = "", *, local_only: bool = False) -> ModelError:
    """Return the error for a request that is not sent: what was found, where, and how to resolve it.

    `local_only` means that only a local model may read the request, and none is configured.
    """
    what, rule = describe_kinds(kinds), "[prompt_guard]"
    if DENIED in kinds:
        what, rule = translatable("a word of prompt_guard.deny_words"), "prompt_guard.deny_words"
    where = translatable(" in {place}", place=place) if place else ""
    if local_only:
        told = translatable(
            "the prompt guard found {what}{where}, which a local model alone may read: set prompt_guard.local_model",
            what=what,
            where=where,
        )
        return ModelError(ModelFault.FILTERED, told)
    return ModelError(
        ModelFault.FILTERED,
        translatable(
            "the prompt guard found {what}{where} and may not send it; its rules are {rule}",
            what=what,
            where=where,
            rule=rule,
        ),
    )
