"""Questions for approval, what they are bound to, and grants."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import pytest

from hob.core.events.timeline import EventKind
from hob.core.ids import ApprovalId, CallId, OutboxId, SessionKey, TurnId, digest
from hob.core.messages import Address, OutboundKind
from hob.core.states import ApprovalState
from hob.store.approvals import Approval, Bound
from hob.store.database.state_moves import IllegalMove
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import chunk_of, outbound_to
from tests.turns import make_turn, put_message

SESSION = SessionKey("memory:main")
BOUND = Bound("/work", (("/usr/bin/make", digest("make")), ("/work/Makefile", digest("all:"))))
ASKED = Approval(
    ApprovalId("a_1"), TurnId("t_1"), CallId("c_1"), "exec", digest("exec\nmake"), SESSION, "a reason", 1.0, 2.0,
    "make", rule="mode.risk", requester="local:me", bound=BOUND, remaining=60.0,
)  # fmt: skip


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


async def test_question_stores_what_it_is_bound_to(store: Store) -> None:
    await store.approvals.put(ASKED)
    assert await store.approvals.find(ASKED.id) == ASKED
    assert await store.approvals.newest(ASKED.turn, ASKED.call, ASKED.hash) == ASKED
    assert await store.approvals.newest(ASKED.turn, ASKED.call, digest("other")) is None


async def test_call_is_asked_about_again_once_its_approval_was_used(store: Store) -> None:
    await store.approvals.put(ASKED)
    again = replace(ASKED, id=ApprovalId("a_2"))
    assert await store.approvals.put(again) == ASKED.id
    await store.approvals.answer(ASKED.id, True, "owner")
    assert await store.approvals.put(again) == ASKED.id
    assert await store.approvals.use(ASKED.id, ASKED.hash)
    assert await store.approvals.put(again) == again.id
    newest = await store.approvals.newest(ASKED.turn, ASKED.call, ASKED.hash)
    assert newest is not None
    assert newest.id == again.id


async def test_question_is_the_last_message_until_a_person_or_hob_writes(store: Store) -> None:
    asking = message("do it")
    turn = await make_turn(store, asking)
    question = replace(ASKED, id=ApprovalId("a_3"), turn=turn.id)
    here, elsewhere = asking.origin, Address("memory", "elsewhere")
    asks = replace(chunk_of(turn, "may I?"), kind=OutboundKind.QUESTION)
    await store.outbox.enqueue([asks, replace(outbound_to(asking, "o_1"), to=elsewhere)])
    assert await store.approvals.is_last_message(question, here)
    await store.outbox.enqueue([outbound_to(asking, "o_2")])
    assert not await store.approvals.is_last_message(question, here)
    third = Address("memory", "third")
    assert not await store.approvals.is_last_message(question, third)  # which did not show it
    await store.outbox.enqueue([replace(asks, id=OutboxId("o_3"), to=third)])
    assert await store.approvals.is_last_message(question, third)
    await put_message(store, message("and what about the weather?"))
    assert not await store.approvals.is_last_message(question, third)


@pytest.mark.parametrize(("scope", "session"), [("session", SESSION), ("always", None)])
async def test_approval_for_repeated_use_is_a_grant_until_revoked(
    store: Store, scope: str, session: SessionKey | None
) -> None:
    await store.approvals.put(ASKED)
    await store.approvals.answer(ASKED.id, True, "owner", scope=scope)
    (grant,) = await store.approvals.grants(ASKED.hash)
    assert (grant.session, grant.bound, grant.requester) == (session, BOUND, "local:me")
    assert await store.approvals.grants(digest("other")) == ()
    assert await store.approvals.revoke(grant.id)
    assert not await store.approvals.revoke(grant.id)
    assert await store.approvals.grants() == ()


@pytest.mark.parametrize(("allowed", "scope"), [(True, "once"), (False, "session"), (False, "always")])
async def test_no_other_answer_creates_a_grant(store: Store, allowed: bool, scope: str) -> None:
    await store.approvals.put(ASKED)
    await store.approvals.answer(ASKED.id, allowed, "owner", scope=scope)
    assert await store.approvals.grants() == ()


async def test_remaining_time_of_an_open_question_is_stored(store: Store) -> None:
    await store.approvals.put(ASKED)
    await store.approvals.note_remaining({ASKED.id: 30.0})
    assert [each.remaining for each in await store.approvals.standing()] == [30.0]
    await store.approvals.answer(ASKED.id, False, "owner")
    await store.approvals.note_remaining({ASKED.id: 10.0})
    found = await store.approvals.find(ASKED.id)
    assert found is not None
    assert found.remaining == 30.0
    assert await store.approvals.standing() == ()


async def test_expired_approval_says_why(store: Store) -> None:
    await store.approvals.put(ASKED)
    await store.approvals.answer(ASKED.id, True, "owner")
    await store.approvals.expire(ASKED.id, "a file changed")
    found = await store.approvals.find(ASKED.id)
    assert found is not None
    assert (found.state, found.note) == (ApprovalState.EXPIRED, "a file changed")
    with pytest.raises(IllegalMove):
        await store.approvals.expire(ASKED.id)


async def test_erasing_a_question_erases_what_it_was_bound_to(store: Store) -> None:
    await _forgotten(store)
    found = await store.approvals.find(ASKED.id)
    assert found is not None
    assert (found.shown, found.bound) == ("", None)
    assert [grant.bound for grant in await store.approvals.grants()] == [None]


async def _forgotten(store: Store) -> None:
    await store.approvals.put(ASKED)
    await store.approvals.answer(ASKED.id, True, "owner", scope="always")
    sql = "INSERT INTO turns (id, session, trace_id, span_id, state, created) VALUES ('t_1', ?, 'x', 'y', 'done', 1)"
    await store._writer.write(lambda connection: connection.execute(sql, (SESSION,)).fetchall())
    await store.erasure.erase_session(SESSION, "a test")


@pytest.mark.parametrize("end", ["allowed", "denied", "expired"])
async def test_end_of_a_question_is_in_the_timeline_of_its_turn_once(store: Store, end: str) -> None:
    turn = await make_turn(store, message("Clean up."), session=SESSION)
    asked = replace(ASKED, turn=turn.id, session=turn.session)
    await store.approvals.put(asked)
    for _ in range(2):
        if end == "expired":
            with suppress(IllegalMove):
                await store.approvals.expire(asked.id)
        else:
            await store.approvals.answer(asked.id, end == "allowed", "local:owner")
    events = [each for each in await store.timeline.trace(turn.trace) if each.kind is EventKind.APPROVAL]
    assert [(each.name, each.status, each.turn, each.parent) for each in events] == [("exec", end, turn.id, turn.span)]
