"""People, their addresses, and pairing requests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.errors import InvalidRequest, NotFound
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import OWNER_ID, PairingRequest, SenderAddress
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.clock import ManualClock

PHONE = SenderAddress.of("telegram", "4711")
OTHER = SenderAddress.of("signal", "+49 171 1234567", "second")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with open_store(tmp_path, StoreSettings(), clock) as opened:
        yield opened


def request(clock: ManualClock, code: str = "ABCDEFGH", address: SenderAddress = PHONE) -> PairingRequest:
    at = clock.now().timestamp()
    return PairingRequest(code, address, "Anna", at, at + 60)


async def test_new_hob_knows_only_its_owner(store: Store) -> None:
    (owner,) = await store.people.persons()
    assert (owner.id, owner.cls, owner.addresses) == (OWNER_ID, SenderClass.OWNER, ())


async def test_person_has_many_addresses_and_each_has_one_person(store: Store) -> None:
    await store.people.link(PHONE, "anna", "Anna")
    anna = await store.people.link(OTHER, "anna")
    assert (anna.name, anna.cls, set(anna.addresses)) == ("Anna", SenderClass.MEMBER, {PHONE, OTHER})
    with pytest.raises(InvalidRequest, match="linked to anna"):
        await store.people.link(PHONE, "ben")
    assert [person.id for person in await store.people.persons()] == [OWNER_ID, "anna"]


async def test_link_is_there_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        await store.people.link(PHONE, OWNER_ID)
        await store.people.ask(request(clock, address=OTHER))
        await store.abandon()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        assert (await store.people.persons())[0].addresses == (PHONE,)
        assert [each.code for each in await store.people.requests()] == ["ABCDEFGH"]


async def test_unlinked_address_belongs_to_nobody(store: Store) -> None:
    await store.people.link(PHONE, "anna")
    assert await store.people.unlink(PHONE)
    assert not await store.people.unlink(PHONE)
    assert (await store.people.link(PHONE, "ben")).addresses == (PHONE,)


async def test_removed_person_leaves_no_address(store: Store) -> None:
    await store.people.link(PHONE, "anna", "Anna")
    await store.people.forget("anna")
    assert [person.id for person in await store.people.persons()] == [OWNER_ID]
    assert (await store.people.link(PHONE, "ben")).id == "ben"
    with pytest.raises(NotFound):
        await store.people.forget("anna")


async def test_owner_cannot_be_removed(store: Store) -> None:
    with pytest.raises(InvalidRequest):
        await store.people.forget(OWNER_ID)


async def test_expired_request_is_removed_with_the_next_one(store: Store, clock: ManualClock) -> None:
    await store.people.ask(request(clock))
    await clock.advance(61)
    assert await store.people.requests() == ()
    await store.people.ask(request(clock, "HGFEDCBA", OTHER))
    with pytest.raises(NotFound):
        await store.people.deny(PairingRequest("ABCDEFGH", PHONE, "Anna", 0, 0))


async def test_denied_sender_stays_denied_until_the_owner_links_them(store: Store, clock: ManualClock) -> None:
    await store.people.ask(request(clock))
    await store.people.deny(request(clock))
    await clock.advance(3600)
    await store.people.ask(request(clock, "HGFEDCBA", OTHER))
    assert [(each.address, each.denied) for each in await store.people.requests()] == [(PHONE, True), (OTHER, False)]
    await store.people.link(PHONE, "anna")
    assert [each.address for each in await store.people.requests()] == [OTHER]
