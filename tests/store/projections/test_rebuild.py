"""Tasks, spending and sessions: compared with the timeline, and rebuilt from it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound, StoreFull
from hob.core.events.timeline import EventKind
from hob.core.ids import SessionKey
from hob.core.models import Thinking, Usage
from hob.core.states import TaskState, TurnState
from hob.core.steps import ModelFailed, ModelReplied
from hob.core.turns import Parked, QueueMode, WaitsFor
from hob.store.backup.backup import restore
from hob.store.database import migration
from hob.store.messages.inbox import InboxLimits
from hob.store.projections.rebuild import Compared, check_projections, compare, rebuild_projections
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.samples import ASKED, event_of, finish_of
from tests.turns import SESSION, make_turn, put_message

SETTINGS = StoreSettings()
CLOCK = SystemClock()
DAY = 86_400.0
LIMITS = InboxLimits()


@pytest.fixture
async def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[Store]:
    async with memory_store(clock) as opened:
        yield opened


async def problems(store: Store) -> list[str]:
    compared = await store._readers.read(compare)
    return [f"{table.table} {line}" for table in compared for line in table.lines()]


async def fill(home: Path) -> None:
    """A home with a turn that ended well, one that failed, and a title of its own."""
    async with open_store(home, SETTINGS, CLOCK) as store:
        for text, state in (("Plan the garden", TurnState.DONE), ("Fix the roof", TurnState.FAILED)):
            turn = await make_turn(store, message(text))
            await store.journal.append(turn.id, [ASKED])
            await store.journal.finish(finish_of(turn, "done", state=state))
            await store.outbox.picked_up(turn.id, ["memory"])


def tamper(home: Path, *statements: str) -> None:
    connection = apsw.Connection(str(home / "hob.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def rows(home: Path, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(home / "hob.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        found: list[tuple[object, ...]] = connection.execute(sql).fetchall()
        return found
    finally:
        connection.close()


def differing(compared: tuple[Compared, ...]) -> dict[str, int]:
    return {table.table: table.differences for table in compared if table.differences}


async def test_task_of_a_joined_message_is_running_since_it_joined(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("first"))
    second = message("second")
    await put_message(store, second)
    await clock.advance(5)
    (joined,) = await store.journal.steer(turn.id, [second.id])
    (event,) = [event for event in await store.timeline.trace(joined.trace) if event.kind is EventKind.STEER]
    assert (event.turn, event.session) == (turn.id, SESSION)
    assert await problems(store) == []


async def test_retried_turn_is_pending_again_and_its_calls_are_paid_once(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hello"))
    replied = ModelReplied("hm", usage=Usage(3, 4), model="m", cost=7)
    await store.journal.append(turn.id, [ASKED, replied, ASKED])
    await store.journal.finish(finish_of(turn, "", state=TurnState.FAILED, steps=(ModelFailed("auth", "no"),)))
    await clock.advance(5)
    new = await store.turns.retry(turn.id)
    assert new is not None
    assert await problems(store) == []
    await store.turns.start(new)
    await store.journal.append(new, [ASKED, replied])
    assert (await store.ledger.spent(session=SESSION)).cost == 14
    assert await problems(store) == []


async def test_call_without_a_recorded_end_is_in_the_timeline(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ASKED])
    await store.journal.finish(finish_of(turn, "stopped", state=TurnState.CANCELLED, steps=()))
    (event,) = [event for event in await store.timeline.trace(turn.trace) if event.kind is EventKind.MODEL]
    assert (event.name, event.status, event.cost) == (ASKED.model, "unknown_outcome", ASKED.reserved)
    assert (await store.ledger.spent(turn=turn.id)).cost == ASKED.reserved
    assert await problems(store) == []


async def test_extra_call_belongs_to_the_turn_and_is_separate_from_the_reply(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ASKED])
    failed = replace(event_of(turn.inbounds[0], EventKind.MODEL), turn=turn.id, session=SESSION, name="model-b")
    await store.ledger.record(replace(failed, status="cut_stream", classification="owner/chat", cost=70))
    spent = await store.ledger.spent(turn=turn.id)
    assert (spent.cost, spent.calls, spent.reserved) == (70 + (ASKED.reserved or 0), 2, ASKED.reserved)
    assert await problems(store) == []
    await store.journal.append(turn.id, [ModelReplied("yes", usage=Usage(9, 1), cost=11, ref="model-a")])
    assert {model: spent.cost for model, spent in await store.ledger.sums("model")} == {"model-a": 11, "model-b": 70}
    assert await problems(store) == []


async def test_discarded_answer_keeps_its_cost(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ASKED, ModelFailed("empty", "nothing", usage=Usage(9, 1), cost=11)])
    spent = await store.ledger.spent(turn=turn.id)
    assert (spent.cost, spent.unknown_calls, spent.usage) == (11, 0, Usage(9, 1))
    await store.journal.append(turn.id, [ASKED, ModelFailed("auth", "no")])
    assert (await store.ledger.spent(turn=turn.id)).unknown_calls == 0
    assert await problems(store) == []


async def test_answer_of_a_resumed_turn_precedes_calls_without_a_recorded_end(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ASKED])
    await clock.advance(5)  # a crash; the model is asked again
    await store.journal.append(turn.id, [ASKED])
    await store.journal.finish(finish_of(turn, "yes"))
    events = [event for event in await store.timeline.trace(turn.trace) if event.kind is EventKind.MODEL]
    assert [event.status for event in events] == ["ok", "unknown_outcome"]
    assert await problems(store) == []


async def test_answer_belongs_to_the_newest_open_call(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ASKED])
    await clock.advance(2 * 3600)
    await store.journal.append(turn.id, [replace(ASKED, reserved=3)])
    assert await problems(store) == []
    await store.journal.append(turn.id, [ModelReplied("yes", usage=Usage(1, 1), model="m", cost=5)])
    assert await problems(store) == []
    await store.journal.finish(finish_of(turn, "yes", steps=()))
    assert await problems(store) == []


async def test_choice_for_a_session_is_in_the_timeline(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.finish(finish_of(turn, "hi"))
    await clock.advance(5)
    await store.sessions.reset(SESSION, "new")
    await store.sessions.change(
        SESSION,
        title="Garden",
        model="small",
        mode=QueueMode.COLLECT,
        thinking=Thinking.LOW,
        permission="read-only",
        autonomy="supervised",
        paused=True,
        archived=True,
    )
    await store.sessions.switch("chat", SESSION)
    events = [event for event in await store.timeline.latest(50, SESSION) if event.kind is EventKind.SESSION]
    assert [(event.name, event.classification, event.text) for event in events] == [
        ("created", "memory::chat:", "hello"),
        ("reset", "2", ""),
        ("model", "small", ""),
        ("mode", "collect", ""),
        ("thinking", "low", ""),
        ("permission", "read-only", ""),
        ("autonomy", "supervised", ""),
        ("paused", "yes", ""),
        ("archived", "yes", ""),
        ("title", "", "Garden"),
        ("switched", "chat", ""),
    ]
    assert await problems(store) == []


async def test_unchanged_title_is_stored_once(store: Store) -> None:
    await put_message(store, message("hello"))
    count = "SELECT count(*) FROM content"
    before = await store._readers.read(lambda connection: connection.execute(count).get)
    await store.sessions.change(SESSION, paused=True)
    assert await store._readers.read(lambda connection: connection.execute(count).get) == before


async def test_turn_without_transcript_leaves_its_session_unchanged(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hello"))
    await clock.advance(5)
    await store.journal.finish(replace(finish_of(turn, "", state=TurnState.CANCELLED, steps=()), entries=()))
    assert await problems(store) == []


async def test_task_of_a_quarantined_turn_is_quarantined(store: Store) -> None:
    inbound = message("hello")
    turn = await make_turn(store, inbound)
    for _ in range(3):
        await store.turns.record_defect(turn.id, lambda id: f"set aside: {id}")
        row = await store.turns.find(turn.id)
        if row is not None and row.state is TurnState.READY:
            await store.turns.start(turn.id)
    (task,) = await store.tasks.find()
    assert (task.state, task.reason) == (TaskState.FAILED, "set_aside")
    assert await problems(store) == []


async def test_message_of_a_switched_chat_is_in_its_session(store: Store) -> None:
    inbound = message("hello")
    await store.sessions.switch(inbound.origin.key(), SessionKey("garden"))
    event = replace(event_of(inbound), session=SESSION)  # as made by a bus that does not know of the switch
    await store.inbox.accept(inbound, session=SESSION, limits=LIMITS, event=event)
    assert (await store.timeline.latest(9, SESSION)) == ()
    assert await problems(store) == []


async def test_messages_cancelled_without_a_turn_are_in_the_timeline(store: Store, clock: ManualClock) -> None:
    cancelled, command = message("hello"), message("/new")
    await put_message(store, cancelled)
    await clock.advance(5)
    await store.inbox.cancel_waiting(SESSION, "/stop all")
    await store.inbox.accept(command, session=SESSION, limits=LIMITS, command=True, event=event_of(command))
    (waiting,) = await store.inbox.waiting(SESSION)
    await clock.advance(5)
    await store.inbox.settle_command(waiting, "fresh", (), ())
    ends = {event.trace: event.classification for event in await store.timeline.latest(9) if event.kind == "turn"}
    assert ends == {cancelled.trace: "cancelled", command.trace: "done"}
    assert await problems(store) == []


async def test_task_of_a_parked_turn_is_waiting(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hello"))
    await clock.advance(5)
    await store.turns.park(turn.id, Parked(WaitsFor.TIME, DAY))
    assert await problems(store) == []
    await clock.advance(5)
    await store.turns.wake(turn.id)
    assert await problems(store) == []


TAMPERED = {
    "tasks": ("UPDATE tasks SET state = 'running' WHERE seq = 1", "DELETE FROM tasks WHERE seq = 2"),
    "usage": ("UPDATE usage SET cost = 1", "INSERT INTO usage (session, model, at) VALUES ('x', 'm', 1)"),
    "spending": ("DELETE FROM spending",),
    "sessions": ("UPDATE sessions SET title = NULL, paused = 1",),
    "chats": ("INSERT INTO chats VALUES ('chat', 'nowhere')",),
}
EMPTY = tuple(f"DELETE FROM {table}" for table in TAMPERED)  # noqa: S608 - our own tables


@pytest.mark.parametrize("table", TAMPERED)
async def test_tampered_table_is_detected_and_rebuilt(tmp_path: Path, table: str) -> None:
    await fill(tmp_path)
    everything = f"SELECT * FROM {table} ORDER BY 1"  # noqa: S608 - one of our own tables
    before = rows(tmp_path, everything)
    assert differing(check_projections(tmp_path)) == {}
    tamper(tmp_path, *TAMPERED[table])
    assert list(differing(check_projections(tmp_path))) == [table]
    done = rebuild_projections(tmp_path)
    assert list(differing(done.compared)) == [table]
    assert rows(tmp_path, everything) == before
    assert differing(check_projections(tmp_path)) == {}


async def test_lost_tables_are_rebuilt_after_a_backup(tmp_path: Path) -> None:
    await fill(tmp_path)
    tamper(tmp_path, *EMPTY)
    done = rebuild_projections(tmp_path)
    assert differing(done.compared) == {"tasks": 2, "usage": 2, "spending": 1, "sessions": 1}
    assert differing(check_projections(tmp_path)) == {}
    assert done.backup is not None
    restore(tmp_path, done.backup)
    assert differing(check_projections(tmp_path)) == differing(done.compared)


async def test_rebuild_writes_nothing_if_nothing_differs(tmp_path: Path) -> None:
    await fill(tmp_path)
    data = (tmp_path / "hob.db").read_bytes()
    assert rebuild_projections(tmp_path).backup is None
    assert (tmp_path / "hob.db").read_bytes() == data


async def test_rebuild_does_not_hide_an_unclean_end(tmp_path: Path) -> None:
    await fill(tmp_path)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await make_turn(store, message("hello"))
        await store.abandon()
    tamper(tmp_path, "DELETE FROM tasks")
    rebuild_projections(tmp_path)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert store.unclean


async def test_last_few_backups_of_rebuilds_are_kept(tmp_path: Path) -> None:
    await fill(tmp_path)
    for _ in range(4):
        tamper(tmp_path, "DELETE FROM tasks")
        rebuild_projections(tmp_path)
    assert len(list((tmp_path / "backups").glob("before-rebuild-*.db"))) == SETTINGS.upgrade_backups


@pytest.mark.parametrize("whole", [False, True])
async def test_erased_titles_stay_erased(tmp_path: Path, whole: bool) -> None:
    inbound = message("xyzzy is the secret, and some more words so that the title is cut somewhere here")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, inbound)
        await store.journal.append(turn.id, [ASKED])
        await store.journal.finish(finish_of(turn, "done"))
        await store.outbox.picked_up(turn.id, ["memory"])
        if whole:
            await store.sessions.change(SESSION, title="xyzzy again", paused=True)
            await store.erasure.erase_session(SESSION, "asked to")
        else:
            await store.erasure.erase_trace(inbound.trace, "asked to")
    assert differing(check_projections(tmp_path)) == {}
    tamper(tmp_path, *EMPTY)
    rebuild_projections(tmp_path)
    assert not [path for path in tmp_path.rglob("*.db*") if b"xyzzy" in path.read_bytes()]
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        (task,) = await store.tasks.find()
        assert (task.title, task.state) == ("", TaskState.DONE)
        assert (await store.sessions.get(SESSION)).title == ""
        assert (await store.ledger.spent(session=SESSION)).cost == 200


async def test_home_without_a_database_raises_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        check_projections(tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_rebuild_without_room_for_a_backup_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(tmp_path)
    tamper(tmp_path, "DELETE FROM tasks")
    monkeypatch.setattr(migration, "free_bytes", lambda path: 1000)
    with pytest.raises(StoreFull):
        rebuild_projections(tmp_path)
    assert rows(tmp_path, "SELECT count(*) FROM tasks") == [(0,)]
