"""Sessions, settings, channel state, approvals, decisions, tasks, blobs: the small aggregates."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound
from hob.core.ids import ApprovalId, BlobId, CallId, SessionKey, TurnId, digest
from hob.core.models import Thinking
from hob.core.states import ApprovalState, TaskState
from hob.core.turns import QueueMode, Session
from hob.store.approvals import Approval
from hob.store.database.state_moves import IllegalMove
from hob.store.decisions import PolicyDecision
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.turns import SESSION, make_turn, put_message


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


async def test_new_session_has_defaults(store: Store) -> None:
    assert await store.sessions.get(SESSION) == Session(SESSION)


async def test_choice_for_a_session_is_kept_when_it_is_used(store: Store) -> None:
    chosen = Session(
        SESSION, "Title", "model", QueueMode.COLLECT, Thinking.HIGH, "full", "cautious", paused=True, archived=True
    )
    await store.sessions.change(SESSION, title="Title", model="model", mode=QueueMode.COLLECT)
    await store.sessions.change(SESSION, thinking=Thinking.HIGH, paused=True, archived=True)
    await store.sessions.change(SESSION, permission="full", autonomy="cautious")
    assert replace(await store.sessions.get(SESSION), updated=0.0) == chosen
    await put_message(store, message("hello"))  # which restores it from the archive
    assert replace(await store.sessions.get(SESSION), updated=0.0) == replace(chosen, archived=False)


async def test_choice_leaves_others_unchanged_and_no_choice_creates_no_session(store: Store) -> None:
    await store.sessions.change(SESSION, paused=False, archived=False)
    assert await store.sessions.find() == ()
    both = (store.sessions.change(SESSION, paused=True), store.sessions.change(SESSION, model="small"))
    await asyncio.gather(*both)
    await store.sessions.change(SESSION, mode=QueueMode.STEER, title="Garden")
    found = await store.sessions.get(SESSION)
    assert replace(found, updated=0.0) == Session(SESSION, "Garden", "small", QueueMode.STEER, paused=True)
    await store.sessions.change(SESSION, model=None, mode=None, title="")
    assert replace(await store.sessions.get(SESSION), updated=0.0) == Session(SESSION, paused=True)


async def test_permission_mode_of_a_session_returns_to_the_configured_one(store: Store) -> None:
    await store.sessions.change(SESSION, permission="full", autonomy="autonomous")
    await store.sessions.change(SESSION, permission=None)
    found = await store.sessions.get(SESSION)
    assert (found.permission, found.autonomy) == (None, "autonomous")
    await store.sessions.change(SESSION, autonomy=None)
    assert (await store.sessions.get(SESSION)).autonomy is None


async def test_reset_closes_the_sessions_opened_tools(tmp_path: Path) -> None:
    other = SessionKey("other")
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        for session in (SESSION, other):
            await store.open_groups.open(session, "web")
        await store.sessions.reset(SESSION, "/new")
        assert (store.open_groups.opened(SESSION), store.open_groups.opened(other)) == ((), ("web",))
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert (store.open_groups.opened(SESSION), store.open_groups.opened(other)) == ((), ("web",))


async def test_switched_session_takes_its_title_from_its_first_message(store: Store) -> None:
    await store.sessions.switch("chat", SESSION)
    await put_message(store, message("Plan the garden"))
    assert (await store.sessions.get(SESSION)).title == "Plan the garden"


async def test_session_takes_its_title_from_its_first_message(store: Store) -> None:
    await put_message(store, message("\n  Plan  the\tgarden \nwith roses " + "x" * 80))
    await put_message(store, message("second"))
    assert (await store.sessions.get(SESSION)).title == "Plan the garden"
    await put_message(store, message("word " * 30), SessionKey("long"))
    assert len((await store.sessions.get(SessionKey("long"))).title) == 60


async def test_session_opened_by_a_command_takes_its_title_from_the_next_message(store: Store) -> None:
    await put_message(store, message("/model fast"))
    assert (await store.sessions.get(SESSION)).title == ""
    await put_message(store, message("/etc/hosts is odd"))
    assert (await store.sessions.get(SESSION)).title == "/etc/hosts is odd"


async def test_sessions_are_listed_by_chat_newest_first_and_archived_separately() -> None:
    clock = ManualClock()
    async with memory_store(clock) as store:
        inbound = message("hello")
        for key in ("one", "two", "old"):
            await put_message(store, replace(message("hello"), session=SessionKey(key)))
            await clock.advance(10)
        await store.sessions.change(SessionKey("old"), archived=True)
        chat = inbound.origin.key()
        assert [session.key for session in await store.sessions.find(chat)] == ["two", "one"]
        assert [session.key for session in await store.sessions.find(archived=True)] == ["old"]
        assert await store.sessions.find("nowhere") == ()


async def test_switching_a_chat_lists_its_new_session_there(store: Store) -> None:
    await store.sessions.switch("chat", SessionKey("new"))
    assert await store.sessions.switched("chat") == "new"
    assert [session.key for session in await store.sessions.find("chat")] == ["new"]
    await store.sessions.switch("chat", SessionKey("newer"))
    assert await store.sessions.switched("chat") == "newer"


async def test_stored_settings_are_replaced_and_removed(store: Store) -> None:
    await store.settings.change({"a.b": "1"})
    await store.settings.change({"a.b": "2"})
    assert await store.settings.load() == {"a.b": "2"}
    await store.settings.change({"a.b": None, "a.c": None})
    assert await store.settings.load() == {}


async def test_channel_state_belongs_to_one_account(store: Store) -> None:
    await store.channel_state.put("telegram", "me", {"offset": "7", "token": "x"})
    await store.channel_state.put("telegram", "you", {"offset": "1"})
    await store.channel_state.put("telegram", "me", {"offset": "8", "token": ""})
    assert await store.channel_state.get("telegram", "me") == {"offset": "8"}
    assert await store.channel_state.get("telegram", "you") == {"offset": "1"}


def approval(id: str = "a1") -> Approval:
    return Approval(
        ApprovalId(id), TurnId("t"), CallId("c"), "shell", digest("shell\nrm"), SESSION, "risky", 1.0, 99.0, "rm -rf"
    )


async def test_same_question_is_asked_once(store: Store) -> None:
    assert await store.approvals.put(approval("a1")) == "a1"
    assert await store.approvals.put(approval("a2")) == "a1"
    assert [found.id for found in await store.approvals.open(SESSION)] == ["a1"]
    assert await store.approvals.open(SessionKey("other")) == ()


async def test_permission_is_bound_to_the_exact_call_and_used_once(store: Store) -> None:
    id = await store.approvals.put(approval())
    assert not await store.approvals.use(id, approval().hash)
    answered = await store.approvals.answer(id, True, "owner")
    assert answered is not None
    assert (answered.state, answered.by) == (ApprovalState.ALLOWED, "owner")
    assert not await store.approvals.use(id, digest("other"))
    assert [await store.approvals.use(id, approval().hash) for _ in range(2)] == [True, False]


async def test_answer_cannot_be_changed(store: Store) -> None:
    id = await store.approvals.put(approval())
    answers = await asyncio.gather(*(store.approvals.answer(id, n == 0, f"person {n}") for n in range(3)))
    assert sum(answer is not None for answer in answers) == 1
    found = await store.approvals.find(id)
    assert found is not None
    assert found.state in {ApprovalState.ALLOWED, ApprovalState.DENIED}
    assert await store.approvals.find("unknown") is None


async def test_unused_approval_expires_and_a_denial_does_not(store: Store) -> None:
    id = await store.approvals.put(approval())
    await store.approvals.answer(id, True, "owner")
    await store.approvals.expire(id)
    assert not await store.approvals.use(id, approval().hash)
    with pytest.raises(IllegalMove):
        await store.approvals.expire(id)


async def test_decisions_are_found_by_turn_and_command(store: Store) -> None:
    first = PolicyDecision(TurnId("t"), CallId("c"), "shell", "h1", "deny", "rule 1", "risky", 5.0)
    await store.decisions.add(first)
    await store.decisions.add(replace(first, hash="h2", verdict="allow", at=0.0))
    assert await store.decisions.find(TurnId("t"), "h1") == (first,)
    assert [found.verdict for found in await store.decisions.find(TurnId("t"))] == ["deny", "allow"]


async def test_tasks_are_listed_newest_first_and_open_ones_separately(store: Store) -> None:
    done = message("done")
    await put_message(store, done)
    await store.inbox.cancel_waiting(SESSION, "stopped")
    await make_turn(store, message("open\nmore"))
    tasks = await store.tasks.find()
    assert [(task.title, task.state) for task in tasks] == [
        ("open", TaskState.RUNNING), ("done", TaskState.CANCELLED),
    ]  # fmt: skip
    assert [task.title for task in await store.tasks.find(open_only=True)] == ["open"]
    assert [task.title for task in await store.tasks.find(limit=1)] == ["open"]


async def test_blobs_are_named_by_their_content(tmp_path: Path) -> None:
    data = b"\0\xff" * 1000
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        first, second = await asyncio.gather(*(store.blobs.put(data, "image/png") for _ in range(2)))
        assert first == second == digest(data)
        assert await store.blobs.load(first) == data
        with pytest.raises(NotFound):
            await store.blobs.load(BlobId("0" * 64))
    files = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert [(path.name, path.read_bytes()) for path in files] == [(digest(data), data)]
