"""What happens at the door, told as values: to be written down, and some of it told to the owner."""

from dataclasses import dataclass

from hob.core.messages import Inbound
from hob.core.people import PairingRequest, SenderAddress


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
