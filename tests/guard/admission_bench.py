"""Admission rules with all their dependencies, for tests."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from hob.core.messages import Address, Inbound
from hob.core.ports.guard import Admitted, Refused
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.core.trust.people import OWNER_ID, PairingRequest, Person, SenderAddress
from hob.guard.admission.events import AdmissionEvent
from hob.guard.admission.pairing import Pairing
from hob.guard.admission.passphrase import Passphrase
from hob.guard.admission.people import People
from hob.guard.admission.rules import AdmissionParts, AdmissionRules
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.scanner.scanner import ContentScanner
from hob.testing.channel import message
from hob.testing.clock import ManualClock

OWNER = Person(
    OWNER_ID, "", SenderClass.OWNER, (SenderAddress.of("telegram", "1"), SenderAddress.of("email", "me@x.org"))
)
ANNA = Person("anna", "Anna", SenderClass.MEMBER, (SenderAddress.of("telegram", "2"),))
STRANGER = Label(Origin.STRANGER, Trust.UNTRUSTED)


@dataclass
class AdmissionBench:
    """The rules, their clock, and the events they reported."""

    rules: AdmissionRules
    people: People
    pairing: Pairing
    clock: ManualClock
    told: list[AdmissionEvent] = field(default_factory=list)

    def comes(self, text: str = "hello", sender: str = "9", **changes: Any) -> Admitted | Refused:
        """Return the decision on a direct message."""
        return self.rules.admit(written(text, sender, **changes))

    def kinds(self) -> list[str]:
        """Return the kinds of the reported events, in order."""
        return [type(event).__name__ for event in self.told]


def written(text: str = "hello", sender: str = "9", channel: str = "telegram", **changes: Any) -> Inbound:
    """A message as a channel delivers it, before the sender is classified."""
    made = message(text, channel=channel, chat=changes.pop("chat", sender), sender=sender)
    origin = replace(made.origin, account=changes.pop("account", ""))
    named = replace(made.sender, cls=SenderClass.STRANGER, name=changes.pop("name", ""))
    return replace(made, origin=origin, sender=named, label=changes.pop("label", STRANGER), **changes)


def admission(
    settings: AdmissionSettings | None = None,
    *,
    people: Iterable[Person] = (OWNER, ANNA),
    requests: Iterable[PairingRequest] = (),
    scanner: ContentScanner | None = None,
    **changes: Any,
) -> AdmissionBench:
    """Rules with these settings; Anna and the owner are known."""
    clock = ManualClock()
    chosen = settings or AdmissionSettings(**changes)
    known, pairing = People(people), Pairing(clock, requests)
    secret = chosen.passphrase
    word = None if secret is None else Passphrase(secret.reveal(), chosen.passphrase_hours, clock)
    told: list[AdmissionEvent] = []
    parts = AdmissionParts(clock, known, pairing, scanner, word, frozenset({"hob"}))
    return AdmissionBench(AdmissionRules(chosen, parts, told.append), known, pairing, clock, told)


def group(text: str, sender: str = "2", **changes: Any) -> Inbound:
    """A message in a group."""
    made = written(text, sender, chat="-100", group=True, **changes)
    return replace(made, origin=Address(made.origin.channel, "-100", made.origin.account))


def class_of(decision: Admitted | Refused) -> SenderClass | None:
    """Return the admitted sender's class, None if refused."""
    return decision.sender.cls if isinstance(decision, Admitted) else None
