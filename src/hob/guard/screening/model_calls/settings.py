"""Settings of prompt guard and sanitizer. Imports only the standard library."""

from enum import StrEnum

from hob.core.screening.kinds import SensitiveKind
from hob.core.screening.patterns import compile_pattern
from hob.core.settings import setting
from hob.core.translation.language import join_texts
from hob.core.values import dataclass

_KINDS = tuple(kind.value for kind in SensitiveKind)


class ScreeningAction(StrEnum):
    """The action for a finding, mildest first."""

    OFF = "off"
    WARN = "warn"
    REDACT = "redact"
    LOCAL = "local"
    BLOCK = "block"


class ImagePolicy(StrEnum):
    """The treatment of images in answers that would be loaded from elsewhere."""

    KEEP = "keep"
    DEFUSE = "defuse"


@dataclass(frozen=True, slots=True)
class PromptGuardSettings:
    """What may be sent to models on other people's machines. Models on your own machines get everything."""

    secrets: ScreeningAction = setting(
        ScreeningAction.REDACT,
        "Keys, tokens and passwords: off sends them, warn sends them and says so, redact sends placeholders, "
        "local uses local_model, block sends nothing.",
    )
    pii: ScreeningAction = setting(
        ScreeningAction.OFF, "Postal and e-mail addresses, phone, card and account numbers, ids: the same choices."
    )
    custom: ScreeningAction = setting(ScreeningAction.REDACT, "What your own patterns find: the same choices.")
    patterns: dict[str, str] = setting({}, "Regular expressions of your own, by name.")
    deny_words: list[str] = setting([], "A request with one of these words is sent to local models only.")
    ignore: list[str] = setting([], "Kinds of sensitive text that Hob does not look for.", one_of=_KINDS)
    allow: list[str] = setting([], "Values that may always be sent, e.g. your public e-mail address.")
    local_model: str = setting(
        "", "Model that gets the request if the choice is local; not set: the request is refused."
    )

    def __post_init__(self) -> None:
        for name, pattern in self.patterns.items():
            _check(f"patterns.{name}", pattern)


@dataclass(frozen=True, slots=True)
class SanitizerSettings:
    """What is done to answers of models before anybody sees them."""

    deny: list[str] = setting([], "Regular expressions; an answer that matches one of them is withheld completely.")
    secrets: bool = setting(False, "Remove keys, tokens and passwords that the model wrote.")
    pii: bool = setting(False, "Remove addresses, numbers and ids that the model wrote.")
    artefacts: bool = setting(True, "Remove artefacts of the model's format: stop tokens, <think> blocks.")
    images: ImagePolicy = setting(
        ImagePolicy.KEEP,
        "Images in answers from hosts that you never named: keep loads them, defuse shows only their address.",
    )
    max_chars: int = setting(0, "Maximum characters of an answer; 0: no limit.", at_least=0)
    suffix: str = setting(" […]", "Text appended to an answer that was cut.")

    def __post_init__(self) -> None:
        for place, pattern in enumerate(self.deny):
            _check(f"deny.{place}", pattern)


def _check(key: str, pattern: str) -> None:
    try:
        compile_pattern(pattern)
    except ValueError as error:
        raise ValueError(join_texts(": ", (key, str(error)))) from None
