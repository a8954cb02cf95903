"""The owner's changes of who is known: stored, and in force at once."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.errors import InvalidRequest, NotFound
from hob.core.labels import SenderClass
from hob.core.people import OWNER_ID, SenderAddress
from hob.core.ports.guard import Refused
from hob.guard.admission.events import AdmissionEvent, PairingAsked
from hob.guard.admission.gate import Gate, Parts
from hob.guard.admission.registrar import Registrar
from hob.guard.admission.settings import AdmissionSettings
from hob.store import Store, StoreSettings, open_store
from hob.testing.clock import ManualClock
from tests.guard.door import class_of, written

CLOCK = ManualClock()


class Front:
    """A store, its registrar, and a gate over both."""

    def __init__(self, store: Store, registrar: Registrar) -> None:
        self.store = store
        self.registrar = registrar
        self.told: list[AdmissionEvent] = []
        parts = Parts(CLOCK, registrar.people, registrar.pairing)
        self.gate = Gate(AdmissionSettings(), parts, self.told.append)

    async def ask(self, sender: str = "9", name: str = "Eve") -> str:
        """The code that somebody unknown is told, stored as the daemon stores it."""
        decision = self.gate.admit(written(sender=sender, name=name))
        assert isinstance(decision, Refused)
        event = self.told.pop()
        assert isinstance(event, PairingAsked)
        await self.registrar.keep(event.request)
        found = re.search(r"\b[A-Z2-9]{8}\b", decision.line)
        assert found is not None
        return found.group()

    def class_of(self, sender: str) -> SenderClass | None:
        """As whom this sender comes in now."""
        return class_of(self.gate.admit(written(sender=sender)))


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[Front]:
    async with open_store(tmp_path, StoreSettings(), CLOCK) as store:
        registrar = Registrar(store.people, CLOCK)
        await registrar.load()
        yield Front(store, registrar)


async def again(front: Front) -> Front:
    """The same after a restart."""
    registrar = Registrar(front.store.people, CLOCK)
    await registrar.load()
    return Front(front.store, registrar)


async def test_who_is_approved_comes_in_at_once_and_after_a_restart(front: Front) -> None:
    code = await front.ask()
    eve = await front.registrar.approve(code.lower())
    assert (eve.id, eve.name, eve.cls) == ("eve", "Eve", SenderClass.MEMBER)
    assert front.class_of("9") is SenderClass.MEMBER
    assert (await again(front)).class_of("9") is SenderClass.MEMBER
    with pytest.raises(NotFound):
        await front.registrar.approve(code)


async def test_a_code_outlives_a_restart(front: Front) -> None:
    code = await front.ask()
    restarted = await again(front)
    await restarted.registrar.approve(code, OWNER_ID)
    assert restarted.class_of("9") is SenderClass.OWNER


@pytest.mark.parametrize("name", ["anna", "owner", "Änna", "../..", "", "日本"])
async def test_a_strangers_name_for_themselves_makes_nobody_else_of_them(front: Front, name: str) -> None:
    await front.registrar.link("telegram:2", "anna", "Anna")
    person = await front.registrar.approve(await front.ask(name=name))
    assert person.id not in {"anna", OWNER_ID}
    assert person.addresses == (SenderAddress("telegram", "9"),)


async def test_who_is_denied_gets_no_further_code_even_after_a_restart(front: Front) -> None:
    await front.registrar.deny(await front.ask())
    await CLOCK.advance(3601)  # the code would have ended by itself
    for at in (front, await again(front)):
        decision = at.gate.admit(written())
        assert isinstance(decision, Refused)
        assert decision.line == ""
    await front.registrar.link("telegram:9", "eve")
    assert front.class_of("9") is SenderClass.MEMBER


async def test_linking_an_address_settles_its_request(front: Front) -> None:
    code = await front.ask()
    await front.registrar.link("telegram:9", "eve")
    with pytest.raises(NotFound):
        await front.registrar.deny(code)


async def test_what_is_unlinked_or_forgotten_is_unknown_at_once(front: Front) -> None:
    for address in ("telegram:2", "telegram:3"):
        await front.registrar.link(address, "anna")
    await front.registrar.unlink("telegram:3")
    assert (front.class_of("3"), front.class_of("2")) == (None, SenderClass.MEMBER)
    await front.registrar.forget("anna")
    assert front.class_of("2") is None


@pytest.mark.parametrize("address", ["4711", "telegram:", "telegram:*", "local:me", "api:me"])
async def test_what_is_nobodys_address_is_not_linked(front: Front, address: str) -> None:
    with pytest.raises(InvalidRequest):
        await front.registrar.link(address, "anna")


@pytest.mark.parametrize("person", ["", "a b", "../x", "x" * 41])
async def test_what_is_no_name_of_a_person_is_refused(front: Front, person: str) -> None:
    with pytest.raises(InvalidRequest):
        await front.registrar.link("telegram:2", person)
