"""Old data that is only looked back at is deleted; what a promise needs stays."""

from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind
from hob.core.ids import ONE_TURN_PREFIX, CallId, SessionKey, TurnId
from hob.core.messages import Attachment, Inbound
from hob.core.models import Image, TranscriptEntry
from hob.core.states import TurnState
from hob.core.steps import ModelReplied, ToolReceived
from hob.core.tools import ToolResult
from hob.core.undo import FileChange, FileVersion
from hob.store.backup.backup import restore
from hob.store.database.rows import all_rows
from hob.store.erasure import retention
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.samples import ASKED, event_of, finish_of
from tests.turns import SESSION, make_turn

SETTINGS = StoreSettings()
DETAIL = "xyzzy-what-the-tool-gave"
CALLS = (EventKind.TOOL, EventKind.POLICY, EventKind.APPROVAL)


async def turn_with_details(
    store: Store, inbound: Inbound, state: TurnState = TurnState.DONE, reply: str = "the reply"
) -> TurnId:
    turn = await make_turn(store, inbound)
    received = ToolReceived(ToolResult(CallId("c"), DETAIL))
    told = [event_of(inbound, kind, text=f"{kind} {DETAIL}") for kind in CALLS]
    events = [replace(event, turn=turn.id) for event in told]
    await store.journal.append(turn.id, [ASKED, ModelReplied(DETAIL), received], events)
    await store.journal.finish(finish_of(turn, reply, state=state))
    await store.outbox.picked_up(turn.id, ["memory"])
    return turn.id


def holders(home: Path) -> list[str]:
    return [path.name for path in home.rglob("*") if path.is_file() and DETAIL.encode() in path.read_bytes()]


async def test_details_of_old_turns_are_deleted_and_their_answers_stay(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        old = message("asked long ago", key="same")
        await turn_with_details(store, old)
        await clock.advance(1000)
        cut = clock.now().timestamp()
        await clock.advance(1000)
        young = await turn_with_details(store, message("asked now"))
        assert await store.retention.drop_details(cut) >= 3
        assert len(await store.journal.load_steps(young)) > 2
        result = await store.results.find(old.id)
        assert result is not None
        assert (result.reply, result.state) == ("the reply", "done")
        view = await store.transcript.load_view(SESSION, 10)
        assert [entry.text for entry in view.entries] == ["asked long ago", "the reply", "asked now", "the reply"]
        assert (await store.timeline.trace(old.trace))[0].status
        assert await store.retention.drop_details(cut) == 0
        assert await store.retention.drop_details(clock.now().timestamp() + 1) >= 3
    assert holders(tmp_path) == []


async def test_transcript_text_shared_with_a_step_stays(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        turn = await make_turn(store, message("hi"))
        entry = TranscriptEntry(0, "tool", DETAIL, message("").label, turn.id, 0.0)
        finish = finish_of(turn, "done")
        event = replace(event_of(turn.inbounds[0], EventKind.TOOL, text=DETAIL), turn=turn.id)
        await store.journal.finish(replace(finish, entries=(entry,), events=(*finish.events, event)))
        await store.retention.drop_details(clock.now().timestamp() + 1)
        assert [entry.text for entry in (await store.transcript.load_view(SESSION, 10)).entries] == [DETAIL]


@pytest.mark.parametrize("state", [TurnState.FAILED, TurnState.SET_ASIDE])
async def test_retriable_turn_is_retried_from_its_steps(tmp_path: Path, state: TurnState) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        if state is TurnState.SET_ASIDE:
            turn = (await make_turn(store, message("hi"))).id
            await store.journal.append(turn, [ASKED, ToolReceived(ToolResult(CallId("c"), DETAIL))])
            while await store.turns.record_defect(turn, lambda _: "set aside") is not TurnState.SET_ASIDE:
                await store.turns.start(turn)
        else:
            turn = await turn_with_details(store, message("hi"), state)
        assert await store.retention.drop_details(clock.now().timestamp() + 1) == 0
        again = await store.turns.retry(turn)
        assert again is not None
        assert DETAIL in str(await store.journal.load_steps(again))


def showing(text: str, blob: str) -> Inbound:
    return replace(message(text), attachments=(Attachment("image/png", blob=blob),))  # type: ignore[arg-type]


async def test_old_files_are_deleted_and_those_in_use_stay(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        blobs = [await store.blobs.put(f"picture {n}".encode(), "image/png") for n in range(6)]
        old, open_, failed, again, shown, undo = blobs
        await turn_with_details(store, showing("old", old))
        await make_turn(store, showing("open", open_))
        await turn_with_details(store, showing("failed", failed), TurnState.FAILED)
        await clock.advance(1000)
        cut = clock.now().timestamp()
        await clock.advance(1000)
        await turn_with_details(store, showing("again", again))
        turn = await make_turn(store, message("shown"))
        finish = finish_of(turn, "here")
        at = clock.now().timestamp()
        entry = TranscriptEntry(0, "tool", "x", message("").label, turn.id, at, images=(Image(shown, "image/png"),))
        await store.journal.finish(replace(finish, entries=(*finish.entries, entry)))
        change = FileChange("1", turn.id, CallId("c"), "/a", FileVersion(undo, 0o644, undo), None)
        await store.file_changes.add([change])
        assert await store.retention.drop_blobs(cut) == 1
        with pytest.raises(NotFound):
            await store.blobs.load(old)
        for kept in (open_, failed, again, shown, undo):
            assert await store.blobs.load(kept)
        assert await store.retention.drop_unnamed([undo, shown], cut) == 0
        assert await store.blobs.put(b"picture 0", "image/png") == old  # sent again, it is there again
        assert await store.blobs.load(old) == b"picture 0"


async def test_restored_backup_contains_deleted_details_until_the_next_run(tmp_path: Path) -> None:
    clock, home = ManualClock(), tmp_path / "home"
    async with open_store(home, SETTINGS, clock) as store:
        await turn_with_details(store, message("hi"))
        await store.backup(tmp_path / "copy.db")
        await store.retention.drop_details(clock.now().timestamp() + 1)
    assert not holders(home)
    restore(home, tmp_path / "copy.db", clock)
    assert holders(home) == ["hob.db"]


async def test_one_shot_sessions_expire_and_conversations_stay(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        passing, kept, open_ = message(DETAIL), message("said"), message(DETAIL)
        turn = await make_turn(store, passing, session=SessionKey(f"{ONE_TURN_PREFIX}m_1"))
        await store.late_results.put(turn.id, ToolResult(CallId("c"), DETAIL))
        await store.journal.finish(finish_of(turn, DETAIL))
        await make_turn(store, kept)
        await make_turn(store, open_, session=SessionKey(f"{ONE_TURN_PREFIX}m_2"))
        await clock.advance(1000)
        now = clock.now().timestamp()
        assert await store.retention.drop_one_turn_sessions(now - 2000) == 0
        assert await store.retention.drop_one_turn_sessions(now) > 3
        assert await store.retention.drop_one_turn_sessions(now) == 0
        gone, stays = await store.results.find(passing.id), await store.results.find(kept.id)
        assert await store.late_results.find(turn.id, CallId("c")) is None
        assert gone is not None
        assert (gone.reply, gone.state) == ("", "done")
        assert stays is not None
        found = await store.timeline.trace(open_.trace)
        assert DETAIL in [event.text for event in found]
        assert [session.key for session in await store.sessions.find()] == [SESSION]


async def test_expiring_one_turn_sessions_scans_no_table(tmp_path: Path) -> None:
    """Regression: each session used to read all messages; 20,000 of them cost 42 seconds a day."""
    async with open_store(tmp_path, SETTINGS, ManualClock()) as store:
        for sql, values in ((retention._PASSED, (1.0, "", 1)), (retention._SAID, {"key": "k"})):
            plan = await store.retention._readers.read(
                lambda c, sql=sql, values=values: all_rows(c, f"EXPLAIN QUERY PLAN {sql}", values)  # type: ignore[misc]
            )
            steps = [row[3] for row in plan]
            assert not [step for step in steps if step.startswith("SCAN") and "CONSTANT" not in step], steps


async def test_unfetched_replies_expire_and_stay_answered(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        asked = message("hi", channel="api")
        turn = await make_turn(store, asked)
        finish = finish_of(turn, "hello")
        to = replace(finish.outbounds[0], to=asked.origin)
        await store.journal.finish(replace(finish, outbounds=(to,)))
        assert (await store.outbox.counts()).unread == 1
        await clock.advance(1000)
        now = clock.now().timestamp()
        assert await store.outbox.expire("api", now - 2000) == 0
        assert await store.outbox.expire("api", now) == 1
        assert (await store.outbox.counts()).unread == 0
        result = await store.results.find(asked.id)
        assert result is not None
        assert result.reply == "hello"
