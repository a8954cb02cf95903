"""A request after the prompt guard: what may be sent, or why none of it may."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelRequest
from hob.core.screening.kinds import describe
from hob.core.translation.language import translatable
from hob.core.translation.remarks import Remark
from hob.core.values import dataclass
from hob.guard.screening.model_calls.settings import ScreeningAction

DENIED = "deny_words"


@dataclass(frozen=True, slots=True)
class Screened:
    """A request as it may be sent, and what was found in it.

    Implements the providers' `ScreenedRequest`. `action` is the most that had to be done.
    """

    request: ModelRequest
    action: ScreeningAction = ScreeningAction.OFF
    kinds: tuple[str, ...] = ()
    restore: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    @property
    def stays(self) -> bool:
        return self.action is ScreeningAction.LOCAL

    def refusal(self) -> ModelError:
        return refusal(self.kinds, stays=True)


def refusal(kinds: tuple[str, ...], place: str = "", *, stays: bool = False) -> ModelError:
    """Why a request goes to no one: what was found, where, and what its owner can do.

    `stays`: a local model might have had it, but none is known.
    """
    what, rule = describe(kinds), "[prompt_guard]"
    if DENIED in kinds:
        what, rule = translatable("a word of prompt_guard.deny_words"), "prompt_guard.deny_words"
    where = translatable(" in {place}", place=place) if place else ""
    if stays:
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
