"""Erasure: content is removed everywhere, events and tombstones stay."""

import json
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest, NotFound, StoreFull
from hob.core.ids import BlobId, CallId, SessionKey
from hob.core.messages import Attachment, Inbound, Sender
from hob.core.models import Image, TranscriptEntry
from hob.core.states import OutboxState, TurnState
from hob.core.steps import ToolReceived
from hob.core.tools import ToolResult
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import Parked, Summary, WaitsFor
from hob.store.backup.backup import restore
from hob.store.erasure.copies import find_copies
from hob.store.erasure.erasure import Erasure, ErasurePerson
from hob.store.erasure.tombstones import TOMBSTONES, read_tombstones, write_tombstones
from hob.store.projections.rebuild import check_projections
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.store.turns.turns import Recovered
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.samples import ASKED, event_of, finish_of
from tests.turns import SESSION, make_turn, put_message

SETTINGS = StoreSettings()
CLOCK = SystemClock()
SECRET = "xyzzy-the-secret-word"


async def talk(store: Store, inbound: Inbound, reply: str) -> None:
    """A turn whose reply was delivered."""
    turn = await make_turn(store, inbound)
    await store.journal.append(turn.id, [ASKED])
    await store.journal.finish(finish_of(turn, reply))
    await store.outbox.picked_up(turn.id, ["memory"])


def spilled(home: Path) -> list[str]:
    """Return the files of the home that contain the secret."""
    return [path.name for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


async def test_erased_message_is_in_no_file_but_its_events_stay(tmp_path: Path) -> None:
    inbound = message(f"remember {SECRET} " * 300)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, message("kept"), "KEPT")
        await talk(store, inbound, f"I know {SECRET}")
        assert spilled(tmp_path)
        assert await store.erasure.erase_trace(inbound.trace, "asked to") > 3
        assert spilled(tmp_path) == []
        events = await store.timeline.trace(inbound.trace)
        assert {event.text for event in events} == {""}
        view = await store.transcript.load_view(SESSION, 10)
        assert ([entry.text for entry in view.entries], view.total) == (["kept", "KEPT"], 2)
        result = await store.results.find(inbound.id)
        assert result is not None
        assert (result.state, result.reply, result.cost) == ("done", "", 200)
        task, _ = await store.tasks.find()
        assert task.title == ""
    assert spilled(tmp_path) == []


async def test_key_of_an_erased_message_is_still_known(tmp_path: Path) -> None:
    inbound = message(SECRET, key="same")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, inbound, "hi")
        await store.erasure.erase_trace(inbound.trace, "asked to")
        first = await store.inbox.find_key("memory", "", "same")
        assert first is not None
        assert first.id == inbound.id


async def test_summary_of_an_erased_turn_is_erased_too(tmp_path: Path) -> None:
    inbound = message(SECRET)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, inbound, "hi")
        summary = Summary(2, f"the word is {SECRET}", HOB_LABEL)
        await store.transcript.summarise(SESSION, summary, event_of(message("")))
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert (await store.transcript.load_view(SESSION, 5)).summary is None
        assert spilled(tmp_path) == []


async def test_erased_session_leaves_no_title_and_no_blob(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        pictures = [await store.blobs.put(f"{SECRET} {n}".encode(), "image/png") for n in range(3)]
        attached = replace(message(SECRET), attachments=(Attachment("image/png", blob=pictures[0]),))
        turn = await make_turn(store, attached)
        result = ToolResult(CallId("c"), SECRET, rest=pictures[1])
        await store.journal.append(turn.id, [ASKED, ToolReceived(result)])
        await store.journal.finish(finish_of(turn, "hi"))
        await store.outbox.picked_up(turn.id, ["memory"])
        await store.erasure.erase_session(SESSION, "asked to")
        assert (await store.sessions.get(SESSION)).title == ""
        assert await store.blobs.load(pictures[2])
        for blob in pictures[:2]:
            with pytest.raises(NotFound):
                await store.blobs.load(blob)
        assert spilled(tmp_path) == [pictures[2]]
        assert await store.blobs.put(f"{SECRET} 0".encode(), "image/png") == pictures[0]
        assert await store.blobs.load(pictures[0])


async def test_erased_message_leaves_no_title_of_a_fork_either(tmp_path: Path) -> None:
    inbound, fork = message(SECRET), SessionKey(f"{SESSION}-fork")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, inbound, "hi")
        assert await store.transcript.fork(SESSION, None, fork)
        await store.sessions.change(fork, title=f"Fork of {SECRET}")
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert (await store.sessions.get(fork)).title == ""
        assert spilled(tmp_path) == []


def showing(text: str, blob: BlobId) -> Inbound:
    return replace(message(text), attachments=(Attachment("image/png", blob=blob),))


async def test_blob_stays_while_a_message_refers_to_it(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        blob = await store.blobs.put(b"abc", "image/png")
        one, two = showing("one", blob), showing("two", blob)
        await talk(store, one, "ONE")
        await talk(store, two, "TWO")
        await store.erasure.erase_trace(one.trace, "asked to")
        assert await store.blobs.load(blob) == b"abc"
        await store.erasure.erase_trace(two.trace, "asked to")
        with pytest.raises(NotFound):
            await store.blobs.load(blob)
        assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]


@pytest.mark.parametrize("named", ["image", "rest", "shown"])
async def test_blob_stays_while_a_turn_refers_to_it(tmp_path: Path, named: str) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        blob = await store.blobs.put(b"abc", "image/png")
        one = showing("one", blob)
        await talk(store, one, "ONE")
        turn = await make_turn(store, message("two"))
        if named == "rest":
            await store.journal.append(turn.id, [ASKED, ToolReceived(ToolResult(CallId("c"), "x", rest=blob))])
        image = Image(blob, "image/png")
        if named == "shown":
            await store.journal.append(turn.id, [ASKED, ToolReceived(ToolResult(CallId("c"), "x", images=(image,)))])
        shown = (image,) if named == "image" else ()
        entry = TranscriptEntry(0, "tool", "x", HOB_LABEL, turn.id, 0.0, images=shown)
        await store.journal.finish(replace(finish_of(turn, "TWO"), entries=(entry,)))
        await store.erasure.erase_trace(one.trace, "asked to")
        assert await store.blobs.load(blob) == b"abc"


async def test_blob_stored_again_is_not_erased_with_something_else(tmp_path: Path) -> None:
    clock, file = ManualClock(), tmp_path / "copy.db"
    async with open_store(tmp_path / "home", SETTINGS, clock) as store:
        blob = await store.blobs.put(b"abc", "image/png")
        one, other = showing("one", blob), message("other")
        await talk(store, one, "ONE")
        await talk(store, other, "OTHER")
        await store.erasure.erase_trace(one.trace, "asked to")
        assert await store.blobs.put(b"abc", "image/png") == blob  # its message is still to come
        await store.erasure.erase_trace(other.trace, "asked to")
        assert await store.blobs.load(blob) == b"abc"
        await store.backup(file)
    restore(tmp_path / "home", file)
    async with open_store(tmp_path / "home", SETTINGS, clock) as store:
        assert await store.blobs.load(blob) == b"abc"


async def test_blob_stored_again_can_be_erased_again(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, ManualClock()) as store:
        for _ in range(2):
            blob = await store.blobs.put(b"abc", "image/png")
            inbound = showing("look", blob)
            await talk(store, inbound, "SEEN")
            await store.erasure.erase_trace(inbound.trace, "asked to")
            with pytest.raises(NotFound):
                await store.blobs.load(blob)


async def test_restore_erases_a_blob_that_only_later_messages_used(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    async with open_store(home, SETTINGS, CLOCK) as store:
        blob = await store.blobs.put(SECRET.encode(), "image/png")
        one = showing("one", blob)
        await talk(store, one, "ONE")
        await store.backup(file)
        await talk(store, showing("two", blob), "TWO")
        await store.erasure.erase_trace(one.trace, "asked to")
    restore(home, file)
    async with open_store(home, SETTINGS, CLOCK) as store:
        with pytest.raises(NotFound):
            await store.blobs.load(blob)


def test_tombstone_truncated_by_a_crash_does_not_corrupt_the_next(tmp_path: Path) -> None:
    write_tombstones(tmp_path, [(1, b"a" * 32)], 1.0, "x")
    file = tmp_path / TOMBSTONES
    file.write_bytes(file.read_bytes()[:-20])
    write_tombstones(tmp_path, [(2, b"b" * 32)], 2.0, "y")
    write_tombstones(tmp_path, [(3, b"c" * 32)], 3.0, "z")
    assert read_tombstones(tmp_path) == [(2, b"b" * 32, 2.0, "y"), (3, b"c" * 32, 3.0, "z")]
    assert file.stat().st_mode & 0o777 == 0o600


async def test_erased_message_cannot_be_retried(tmp_path: Path) -> None:
    inbound = message(SECRET)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, inbound)
        await store.journal.finish(finish_of(turn, "no", state=TurnState.FAILED))
        await store.outbox.picked_up(turn.id, ["memory"])
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert await store.turns.retry(turn.id) is None


async def test_erasing_a_merged_message_erases_its_turn(tmp_path: Path) -> None:
    first, second = message("innocent"), message(SECRET)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, first, second)
        await store.journal.finish(finish_of(turn, f"both, {SECRET}"))
        await store.outbox.picked_up(turn.id, ["memory"])
        await store.erasure.erase_trace(second.trace, "asked to")
        assert spilled(tmp_path) == []


async def test_retried_turn_is_erased_with_its_predecessor(tmp_path: Path) -> None:
    first, second = message("innocent"), message(SECRET)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, first, second)
        await store.journal.finish(finish_of(turn, f"no {SECRET}", state=TurnState.FAILED))
        await store.outbox.picked_up(turn.id, ["memory"])
        new = await store.turns.retry(turn.id)
        assert new is not None
        await store.journal.finish(finish_of(await store.turns.start(new), f"yes {SECRET}"))
        await store.outbox.picked_up(new, ["memory"])
        await store.erasure.erase_trace(second.trace, "asked to")
        assert spilled(tmp_path) == []


async def test_identical_text_in_other_sessions_stays(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, message("yes"), "ok")
        other = replace(message("yes"), session=SessionKey("other"))
        turn = await make_turn(store, other, session=SessionKey("other"))
        await store.journal.finish(finish_of(turn, "ok"))
        await store.erasure.erase_session(SESSION, "asked to")
        view = await store.transcript.load_view(SessionKey("other"), 5)
        assert [entry.text for entry in view.entries] == ["yes", "ok"]


async def test_running_turn_cannot_be_erased(tmp_path: Path) -> None:
    waiting, pending = message("waiting"), message("owed")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, pending)
        await store.journal.finish(finish_of(turn, "not sent yet"))
        await put_message(store, waiting)
        for inbound in (waiting, pending):
            with pytest.raises(InvalidRequest):
                await store.erasure.erase_trace(inbound.trace, "asked to")
        with pytest.raises(InvalidRequest):
            await store.erasure.erase_session(SESSION, "asked to")
        (row,) = await store.outbox.next("memory", "", 1e12)
        assert (row.outbound.text, row.state) == ("not sent yet", OutboxState.READY)


@pytest.mark.parametrize("lost", ["", "hob.db", TOMBSTONES])
async def test_restored_backup_is_erased_again(tmp_path: Path, lost: str) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    inbound = replace(message(SECRET), key="k")
    async with open_store(home, SETTINGS, CLOCK) as store:
        blob = await store.blobs.put(SECRET.encode(), "image/png")
        await talk(store, replace(inbound, attachments=(Attachment("image/png", blob=BlobId(blob)),)), SECRET)
        await talk(store, message("kept"), "KEPT")
        await store.backup(file)
        await store.erasure.erase_trace(inbound.trace, "asked to")
    if lost:
        (home / lost).unlink()
    kept = restore(home, file)
    assert spilled(home) == []
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert [entry.text for entry in (await store.transcript.load_view(SESSION, 9)).entries] == ["kept", "KEPT"]
        assert await store.inbox.find_key("memory", "", "k") is not None
    assert spilled(home) == []
    assert (kept is None) == (lost == "hob.db")


async def test_full_disk_refuses_an_erasure_and_it_can_be_repeated(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, inbound := message(SECRET), "ok")
        (tmp_path / TOMBSTONES).symlink_to("/dev/full")
        with pytest.raises(StoreFull, match="No space left"):
            await store.erasure.erase_trace(inbound.trace, "asked to")
        assert [entry.text for entry in (await store.transcript.load_view(SESSION, 9)).entries] == [SECRET, "ok"]
        (tmp_path / TOMBSTONES).unlink()
        await store.erasure.erase_trace(inbound.trace, "asked to")
    assert spilled(tmp_path) == []


async def test_export_marks_erased_messages(tmp_path: Path) -> None:
    inbound = message(SECRET)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, inbound, "hi")
        await talk(store, message("kept"), "KEPT")
        await store.erasure.erase_trace(inbound.trace, "asked to")
        lines = [json.loads(line) async for line in store.export_session(SESSION)]
    assert [line["type"] for line in lines] == ["hob-export", "tombstone", "tombstone", "entry", "entry"]
    assert lines[1]["erased"] > 0
    assert SECRET not in json.dumps(lines)


async def test_erasure_outside_the_database_is_completed_at_the_next_start(
    tmp_path: Path,
) -> None:
    forgotten: list[frozenset[str]] = []

    async def breaks(_: object) -> None:
        raise OSError("no disk")

    async def keeps(turns: Collection[str]) -> None:
        forgotten.append(frozenset(turns))

    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, inbound := message(SECRET), "ok")
        with pytest.raises(OSError, match="no disk"):
            await store.erasure.with_participants([breaks]).erase_trace(inbound.trace, "asked to")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert {event.text for event in await store.timeline.trace(inbound.trace)} == {""}
        erasure = store.erasure.with_participants([keeps])
        await erasure.finish()
        await erasure.finish()
    assert [len(turns) > 0 for turns in forgotten] == [True]


async def test_log_of_an_erasure_that_was_killed_is_emptied_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path / "home", SETTINGS, CLOCK) as store:
        await talk(store, inbound := message(f"remember {SECRET} " * 300), "ok")
        monkeypatch.setattr(Erasure, "_checkpoint", lambda _: shutil.copytree(tmp_path / "home", tmp_path / "killed"))
        await store.erasure.erase_trace(inbound.trace, "asked to")
    monkeypatch.undo()
    assert spilled(tmp_path / "killed")
    async with open_store(tmp_path / "killed", SETTINGS, CLOCK) as store:
        await store.erasure.finish()
        assert spilled(tmp_path / "killed") == []


async def test_file_that_only_a_former_database_names_is_erased_with_its_person(tmp_path: Path) -> None:
    # a restore leaves in the home the files of messages that came after the backup
    home, file = tmp_path / "home", tmp_path / "copy.db"
    async with open_store(home, SETTINGS, CLOCK) as store:
        await store.backup(file)
        theirs = await store.blobs.put(SECRET.encode(), "image/png")
        other = await store.blobs.put(b"of another", "image/png")
        await talk(store, one := showing("one", theirs), "ONE")
        await talk(store, replace(showing("two", other), sender=Sender("other")), "TWO")
    former = restore(home, file)
    assert former is not None
    async with open_store(home, SETTINGS, CLOCK) as store:
        mine = await store.blobs.put(b"mine", "image/png")
        whose = ErasurePerson((f"memory::{one.sender.id}",), ())
        await store.erasure.erase_person(whose, "asked to", None, find_copies(home))
        assert await store.blobs.load(mine) == b"mine"
    assert spilled(home) == []
    restore(home, former)
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await store.blobs.load(other) == b"of another"


async def test_answer_that_nobody_fetched_does_not_prevent_an_erasure(tmp_path: Path) -> None:
    inbound = message(SECRET, channel="api")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, inbound)
        await store.journal.finish(finish_of(turn, f"{SECRET} answered"))
        assert len(await store.outbox.unfetched("api")) == 1
        await store.erasure.erase_session(SESSION, "asked to")
        assert await store.outbox.unfetched("api") == ()
        assert (await store.outbox.counts()).unread == 0
    assert spilled(tmp_path) == []


async def test_answer_of_a_channel_that_is_gone_does_not_prevent_an_erasure(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        turn = await make_turn(store, inbound := message(SECRET))
        await store.journal.finish(finish_of(turn, f"{SECRET} answered"))
        with pytest.raises(InvalidRequest):
            await store.erasure.erase_trace(inbound.trace, "asked to")
        await clock.advance(3 * 86_400)
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert await store.outbox.next("memory", "", 1e12) == ()
    assert spilled(tmp_path) == []


@pytest.mark.parametrize("state", ["waiting", "running", "said"])
async def test_restored_work_on_an_erased_message_is_cancelled_and_nobody_is_answered(
    tmp_path: Path, state: str
) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    async with open_store(home, SETTINGS, CLOCK) as store:
        await put_message(store, inbound := message(SECRET))
        if state == "waiting":
            await store.backup(file)
        turn = await store.inbox.claim(SESSION, [inbound.id])
        await store.journal.append(turn.id, [ASKED])
        if state == "running":
            await store.backup(file)
        await store.journal.finish(finish_of(turn, "answered"))
        if state == "said":
            await store.backup(file)
        await store.outbox.picked_up(turn.id, ["memory"])
        await store.erasure.erase_trace(inbound.trace, "asked to")
    restore(home, file)
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await store.turns.recover(str) == Recovered()
        assert await store.inbox.busy_sessions() == ()
        assert await store.outbox.next("memory", "", 1e12) == ()
        task = await store.tasks.get(inbound.id)
        assert task is not None
        assert (task.state, task.reason) == (("done", "") if state == "said" else ("cancelled", "erased"))
    assert all(table.differences == 0 for table in check_projections(home))


async def test_question_that_was_answered_is_erased_with_its_turn(tmp_path: Path) -> None:
    # nothing refers to it any more: the turn forgets it when it goes on
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, inbound := message("one"))
        await store.journal.append(turn.id, [ASKED])
        await store.turns.park(turn.id, Parked(WaitsFor.APPROVAL, line=f"{SECRET} line", question=f"{SECRET}?"))
        await store.turns.wake(turn.id)
        await store.turns.start(turn.id)
        await store.journal.finish(finish_of(turn, "ONE"))
        await store.outbox.picked_up(turn.id, ["memory"])
        await talk(store, message("two"), "TWO")
        assert spilled(tmp_path)
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert [entry.text for entry in (await store.transcript.load_view(SESSION, 9)).entries] == ["two", "TWO"]
    assert spilled(tmp_path) == []
