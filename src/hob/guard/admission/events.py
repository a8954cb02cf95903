"""Events of admission, all recorded and some reported to the owner."""

from collections.abc import Mapping
from enum import StrEnum, auto

from hob.core.messages import Inbound
from hob.core.translation.language import translate
from hob.core.trust.people import PairingRequest, SenderAddress
from hob.core.values import dataclass


class AdmissionSentence(StrEnum):
    """A fixed sentence of Hob's to or about people who are not admitted. No model is involved."""

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


ENGLISH: Mapping[AdmissionSentence, str] = {
    AdmissionSentence.PAIRING: (
        "I do not know you yet. Give this code to the person who runs me: {code}\n"
        "It is good for an hour. They let you in with `hob pairing approve {code}`; then write again."
    ),
    AdmissionSentence.NOT_ADMITTED: "I only answer people whom the person who runs me has let in.",
    AdmissionSentence.SLOW_DOWN: (
        "That was too fast for me; this message was not taken. Try again in {seconds} seconds."
    ),
    AdmissionSentence.PASSED: "Right. You may write to me for {hours} hours.",
    AdmissionSentence.WRONG_PASS: "That is not it.",
    AdmissionSentence.TOO_MANY_TRIES: "Too many tries. Wait for an hour, or ask the person who runs me to let you in.",
    AdmissionSentence.HELD: "This message looks like an attack on me, so it was not taken.",
    AdmissionSentence.ASKS: (
        "Somebody I do not know asks to be let in: {who}. The name is only what they say. If you know them, ask them "
        "for their code, then `hob pairing approve CODE`; `hob pairing list` shows who waits."
    ),
    AdmissionSentence.LOOPED: (
        "{who} and I seem to be two machines that answer each other; I stay silent there for {seconds} seconds."
    ),
    AdmissionSentence.ATTACKED: "A message of {who} looks like an attack on me ({findings}), so it was not taken.",
    AdmissionSentence.RUSHED: "I was made to act too often for {who}: {reason}.",
}


def say_line(line: AdmissionSentence, language: str, **values: object) -> str:
    """Return the sentence in this language, or in English if the language is unknown."""
    return translate(ENGLISH[line], language).format(**values)


@dataclass(frozen=True, slots=True)
class PairingAsked:
    """An unknown sender was given a code. It must be stored, and the owner must be notified."""

    request: PairingRequest


@dataclass(frozen=True, slots=True)
class PassphraseTried:
    """A sender tried the passphrase; the outcome is `right`, `wrong` or `too_often`."""

    address: SenderAddress
    outcome: str


@dataclass(frozen=True, slots=True)
class SlowedDown:
    """A sender exceeded the message rate. Reported once until the sender slows down."""

    address: SenderAddress
    wait: float


@dataclass(frozen=True, slots=True)
class LoopDetected:
    """A sender, most likely a machine, is ignored for a while. The owner must be notified."""

    address: SenderAddress
    seconds: float


@dataclass(frozen=True, slots=True)
class SenderRefused:
    """A sender was refused for this reason. Reported at most once an hour."""

    address: SenderAddress
    reason: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """The scanner found something. `action` is what was done: `flag`, `block`, or `ask`, which notifies the owner."""

    inbound: Inbound
    action: str
    findings: tuple[str, ...]


AdmissionEvent = PairingAsked | PassphraseTried | SlowedDown | LoopDetected | SenderRefused | Scanned
