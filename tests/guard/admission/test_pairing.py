"""The owner's changes to known people are stored and take effect at once."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.errors import InvalidRequest, NotFound
from hob.core.ports.guard import Refused
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import OWNER_ID, SenderAddress
from hob.guard.admission.events import AdmissionEvent, PairingAsked
from hob.guard.admission.pairing import PairingService
from hob.guard.admission.rules import AdmissionParts, AdmissionRules
from hob.guard.admission.settings import AdmissionSettings
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.clock import ManualClock
from tests.guard.admission_bench import class_of, written

CLOCK = ManualClock()


class Front:
    """A store, its pairing service, and admission rules over both."""

    def __init__(self, store: Store, pairing_service: PairingService) -> None:
        self.store = store
        self.pairing_service = pairing_service
        self.told: list[AdmissionEvent] = []
        parts = AdmissionParts(CLOCK, pairing_service.people, pairing_service.pairing)
        self.rules = AdmissionRules(AdmissionSettings(), parts, self.told.append)

    async def ask(self, sender: str = "9", name: str = "Eve") -> str:
        """Return the code given to an unknown sender, stored as the daemon stores it."""
        decision = self.rules.admit(written(sender=sender, name=name))
        assert isinstance(decision, Refused)
        event = self.told.pop()
        assert isinstance(event, PairingAsked)
        await self.pairing_service.keep(event.request)
        found = re.search(r"\b[A-Z2-9]{8}\b", decision.line)
        assert found is not None
        return found.group()

    def class_of(self, sender: str) -> SenderClass | None:
        """Return the class as which this sender is admitted now."""
        return class_of(self.rules.admit(written(sender=sender)))


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[Front]:
    async with open_store(tmp_path, StoreSettings(), CLOCK) as store:
        pairing_service = PairingService(store.people, CLOCK)
        await pairing_service.load()
        yield Front(store, pairing_service)


async def again(front: Front) -> Front:
    """Reopen everything as after a restart."""
    pairing_service = PairingService(front.store.people, CLOCK)
    await pairing_service.load()
    return Front(front.store, pairing_service)


async def test_approved_sender_is_admitted_at_once_and_after_a_restart(front: Front) -> None:
    code = await front.ask()
    eve = await front.pairing_service.approve(code.lower())
    assert (eve.id, eve.name, eve.cls) == ("eve", "Eve", SenderClass.MEMBER)
    assert front.class_of("9") is SenderClass.MEMBER
    assert (await again(front)).class_of("9") is SenderClass.MEMBER
    with pytest.raises(NotFound):
        await front.pairing_service.approve(code)


async def test_code_survives_a_restart(front: Front) -> None:
    code = await front.ask()
    restarted = await again(front)
    await restarted.pairing_service.approve(code, OWNER_ID)
    assert restarted.class_of("9") is SenderClass.OWNER


@pytest.mark.parametrize("name", ["anna", "owner", "Änna", "../..", "", "日本"])
async def test_strangers_chosen_name_never_makes_them_an_existing_person(front: Front, name: str) -> None:
    await front.pairing_service.link("telegram:2", "anna", "Anna")
    person = await front.pairing_service.approve(await front.ask(name=name))
    assert person.id not in {"anna", OWNER_ID}
    assert person.addresses == (SenderAddress("telegram", "9"),)


async def test_denied_sender_gets_no_further_code_even_after_a_restart(front: Front) -> None:
    await front.pairing_service.deny(await front.ask())
    await CLOCK.advance(3601)  # the code would have expired
    for at in (front, await again(front)):
        decision = at.rules.admit(written())
        assert isinstance(decision, Refused)
        assert decision.line == ""
    await front.pairing_service.link("telegram:9", "eve")
    assert front.class_of("9") is SenderClass.MEMBER


async def test_linking_an_address_settles_its_request(front: Front) -> None:
    code = await front.ask()
    await front.pairing_service.link("telegram:9", "eve")
    with pytest.raises(NotFound):
        await front.pairing_service.deny(code)


async def test_unlinked_or_forgotten_address_is_a_stranger_at_once(front: Front) -> None:
    for address in ("telegram:2", "telegram:3"):
        await front.pairing_service.link(address, "anna")
    await front.pairing_service.unlink("telegram:3")
    assert (front.class_of("3"), front.class_of("2")) == (None, SenderClass.MEMBER)
    await front.pairing_service.forget("anna")
    assert front.class_of("2") is None


@pytest.mark.parametrize("address", ["4711", "telegram:", "telegram:*", "local:me", "api:me"])
async def test_address_that_cannot_be_a_persons_is_not_linked(front: Front, address: str) -> None:
    with pytest.raises(InvalidRequest):
        await front.pairing_service.link(address, "anna")


@pytest.mark.parametrize("person", ["", "a b", "../x", "x" * 41])
async def test_invalid_person_name_is_refused(front: Front, person: str) -> None:
    with pytest.raises(InvalidRequest):
        await front.pairing_service.link("telegram:2", person)
