"""What admission notices, as values: to be written down, and some of it told to the owner."""

from collections.abc import Mapping
from enum import StrEnum, auto

from hob.core.messages import Inbound
from hob.core.trust.people import PairingRequest, SenderAddress
from hob.core.values import dataclass

# What Hob itself says to people who are not let in, in English and German. No model has a part in it.


class Line(StrEnum):
    """The name of one sentence."""

    PAIRING = auto()
    NOT_ADMITTED = auto()
    SLOW_DOWN = auto()
    PASSED = auto()
    WRONG_PASS = auto()
    TOO_MANY_TRIES = auto()
    HELD = auto()
    ASKS = auto()
    LOOPED = auto()
    ATTACKED = auto()
    RUSHED = auto()


_TEXTS: Mapping[Line, Mapping[str, str]] = {
    Line.PAIRING: {
        "en": "I do not know you yet. Give this code to the person who runs me: {code}\n"
        "It is good for an hour. They let you in with `hob pairing approve {code}`; then write again.",
        "de": "Ich kenne dich noch nicht. Gib diesen Code an die Person weiter, die mich betreibt: {code}\n"
        "Er gilt eine Stunde. Sie lässt dich mit `hob pairing approve {code}` herein; schreib dann noch einmal.",
    },
    Line.NOT_ADMITTED: {
        "en": "I only answer people whom the person who runs me has let in.",
        "de": "Ich antworte nur Leuten, die von der Person hereingelassen wurden, die mich betreibt.",
    },
    Line.SLOW_DOWN: {
        "en": "That was too fast for me; this message was not taken. Try again in {seconds} seconds.",
        "de": "Das ging mir zu schnell; diese Nachricht wurde nicht angenommen. Versuch es in {seconds} Sekunden "
        "noch einmal.",
    },
    Line.PASSED: {
        "en": "Right. You may write to me for {hours} hours.",
        "de": "Richtig. Du darfst mir {hours} Stunden lang schreiben.",
    },
    Line.WRONG_PASS: {
        "en": "That is not it.",
        "de": "Das stimmt nicht.",
    },
    Line.TOO_MANY_TRIES: {
        "en": "Too many tries. Wait for an hour, or ask the person who runs me to let you in.",
        "de": "Zu viele Versuche. Warte eine Stunde oder bitte die Person, die mich betreibt, dich hereinzulassen.",
    },
    Line.HELD: {
        "en": "This message looks like an attack on me, so it was not taken.",
        "de": "Diese Nachricht sieht wie ein Angriff auf mich aus und wurde darum nicht angenommen.",
    },
    Line.ASKS: {
        "en": "Somebody I do not know asks to be let in: {who}. The name is only what they say. If you know them, ask "
        "them for their code, then `hob pairing approve CODE`; `hob pairing list` shows who waits.",
        "de": "Jemand, den ich nicht kenne, möchte herein: {who}. Der Name ist nur, was sie selbst sagen. Wenn du sie "
        "kennst, frag sie nach ihrem Code, dann `hob pairing approve CODE`; `hob pairing list` zeigt, wer wartet.",
    },
    Line.LOOPED: {
        "en": "{who} and I seem to be two machines that answer each other; I stay silent there for {seconds} seconds.",
        "de": "{who} und ich antworten einander wohl wie zwei Maschinen; ich schweige dort {seconds} Sekunden lang.",
    },
    Line.ATTACKED: {
        "en": "A message of {who} looks like an attack on me ({findings}), so it was not taken.",
        "de": "Eine Nachricht von {who} sieht wie ein Angriff auf mich aus ({findings}); sie wurde nicht angenommen.",
    },
    Line.RUSHED: {
        "en": "I was made to act too often for {who}: {reason}.",
        "de": "Ich sollte zu oft für {who} handeln: {reason}.",
    },
}


def say_line(line: Line, language: str, **values: object) -> str:
    """The sentence in this language, or in English where it is not known."""
    texts = _TEXTS[line]
    return texts.get(language, texts["en"]).format(**values)


@dataclass(frozen=True, slots=True)
class PairingAsked:
    """Somebody unknown was told a code. It must be stored, and the owner should hear of it."""

    request: PairingRequest


@dataclass(frozen=True, slots=True)
class PassphraseTried:
    """Somebody tried the passphrase: `right`, `wrong` or `too_often`."""

    address: SenderAddress
    outcome: str


@dataclass(frozen=True, slots=True)
class SlowedDown:
    """Somebody writes faster than they may; told once until they stop."""

    address: SenderAddress
    wait: float


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """Somebody, most likely a machine, was left in silence. The owner should hear of it."""

    address: SenderAddress
    seconds: float


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """Somebody may not come in, for this reason; told once an hour."""

    address: SenderAddress
    reason: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """The scanner found something. `action` is what was done: `flag`, `block`, or `ask`: the owner is to hear of it."""

    inbound: Inbound
    action: str
    findings: tuple[str, ...]


AdmissionEvent = PairingAsked | PassphraseTried | SlowedDown | LoopEnded | TurnedAway | Scanned
