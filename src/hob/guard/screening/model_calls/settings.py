"""Settings of what is looked over. Loads nothing but the standard library."""

from enum import StrEnum

from hob.core.screening.kinds import SensitiveKind
from hob.core.screening.patterns import compile_pattern
from hob.core.settings import setting
from hob.core.translation.language import joined
from hob.core.values import dataclass

_KINDS = tuple(kind.value for kind in SensitiveKind)


class ScreeningAction(StrEnum):
    """What is done about a finding, from the least to the most."""

    OFF = "off"
    WARN = "warn"
    REDACT = "redact"
    LOCAL = "local"
    BLOCK = "block"


class ImagePolicy(StrEnum):
    """What is done about images in answers that would be loaded from elsewhere."""

    KEEP = "keep"
    DEFUSE = "defuse"


@dataclass(frozen=True, slots=True)
class PromptGuardSettings:
    """What may go to a model on somebody else's machine. Local models are told everything."""

    secrets: ScreeningAction = setting(ScreeningAction.REDACT, "Keys, tokens and passwords: what is done about them.")
    pii: ScreeningAction = setting(
        ScreeningAction.OFF, "Addresses, phone and card numbers, ids: what is done about them."
    )
    custom: ScreeningAction = setting(ScreeningAction.REDACT, "What your own patterns find: what is done about it.")
    patterns: dict[str, str] = setting({}, "Regular expressions of your own, by name.")
    deny_words: list[str] = setting([], "A request with one of these words goes to no model that is not local.")
    ignore: list[str] = setting([], "Kinds that are not looked for.", one_of=_KINDS)
    allow: list[str] = setting([], "Values that may always be sent, e.g. your public e-mail address.")
    local_model: str = setting("", "The model that `local` sends a request to; empty: none, the request is refused.")

    def __post_init__(self) -> None:
        for name, pattern in self.patterns.items():
            _check(f"patterns.{name}", pattern)


@dataclass(frozen=True, slots=True)
class SanitizerSettings:
    """What is done to answers before anybody sees them."""

    deny: list[str] = setting([], "Regular expressions; an answer in which one is found is withheld whole.")
    secrets: bool = setting(False, "Take keys, tokens and passwords out that the model wrote.")
    pii: bool = setting(False, "Take addresses, numbers and ids out that the model wrote.")
    artefacts: bool = setting(True, "Take out what belongs to the model's format: end marks, <think> blocks.")
    images: ImagePolicy = setting(ImagePolicy.KEEP, "Images from hosts you never named: kept, or only named.")
    max_chars: int = setting(0, "Longest answer, in characters; 0 sets no limit.", at_least=0)
    suffix: str = setting(" […]", "What ends an answer that was too long.")

    def __post_init__(self) -> None:
        for place, pattern in enumerate(self.deny):
            _check(f"deny.{place}", pattern)


def _check(key: str, pattern: str) -> None:
    try:
        compile_pattern(pattern)
    except ValueError as error:
        raise ValueError(joined(": ", (key, str(error)))) from None
