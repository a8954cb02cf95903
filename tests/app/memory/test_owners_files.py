"""What the owner's files say is found soon after they change, and after turns where nothing tells of changes."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from hob.app.memory import documents, folder_watch
from hob.app.memory.folder_watch import QUIET_SECONDS, FolderWatch
from hob.app.memory.owners_files import WALK_SECONDS
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import Label, Origin, Trust
from hob.gateway.lazy_ports import MemoryControls
from hob.gateway.memory import ForgetRequest
from hob.testing.clock import ManualClock
from tests.app.visiting import ME, Visited, visited
from tests.tools.documents import samples

UNABLE = "nothing tells of changes here"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What changes is taken up without waiting for quiet, since no time passes by itself."""
    monkeypatch.setattr(folder_watch, "QUIET_SECONDS", 0.0)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that does not tell of changes."""
    monkeypatch.setattr(FolderWatch, "_open", lambda watch: UNABLE)


async def known(hob: Visited, folder: Path) -> list[str]:
    found = await hob.app.store.items.of(Scope("owner")).select("i.layer = 'document'")
    return sorted(item.text.splitlines()[-1] for item in found if item.source.startswith(f"document:{folder}"))


async def taken_up(hob: Visited, folder: Path, wanted: list[str]) -> None:
    async with asyncio.timeout(10):
        while await known(hob, folder) != wanted:  # noqa: ASYNC110 - a real thread writes it
            await asyncio.sleep(0.005)


async def after_a_turn(hob: Visited, folder: Path, wanted: list[str]) -> None:
    await hob.clock.advance(WALK_SECONDS + 1)
    await hob.answer("Something happens.", ME)
    await taken_up(hob, folder, wanted)


def memory(hob: Visited) -> MemoryControls:
    return hob.app.api.port(MemoryControls)


async def add(hob: Visited, path: Path) -> list[str]:
    """The problems."""
    steps = [step async for step in memory(hob).items.add_files(str(path))]
    return list(steps[-1]["problems"])


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('_', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n{text}\n")
    return folder


@pytest.mark.usefixtures("at_once")
async def test_changes_in_an_added_folder_are_indexed_without_a_turn_until_forgotten(tmp_path: Path) -> None:
    folder, elsewhere = written(tmp_path / "papers", plan="Sow in March.", old="The shed is green."), tmp_path / "new"
    async with visited(tmp_path) as hob:
        await hob.knows()
        assert await add(hob, folder) == []
        written(elsewhere, b="The gate is low.", deep_a="The fence is high.").rename(folder / "more")
        (folder / "old.md").unlink()
        await taken_up(hob, folder, ["Sow in March.", "The fence is high.", "The gate is low."])
        written(folder, more_deep_a="The fence is low.")  # in a folder that was not there before
        await taken_up(hob, folder, ["Sow in March.", "The fence is low.", "The gate is low."])
        (folder / "more").rename(elsewhere)
        written(tmp_path, draft="Sow in April.").joinpath("draft.md").replace(folder / "plan.md")
        await taken_up(hob, folder, ["Sow in April."])
    written(folder, plan="Sow in May, if it is warm.")
    async with visited(tmp_path) as hob:  # a restart goes on watching
        await hob.knows()
        await taken_up(hob, folder, ["Sow in May, if it is warm."])
        written(folder, plan="Sow in June.")
        await taken_up(hob, folder, ["Sow in June."])
        status = await memory(hob).status.status()
        assert (status["watched"], status["later"]) == ([str(folder)], {})
        await memory(hob).upkeep.forget(ForgetRequest(source=f"document:{folder}", preview=False))
        assert (await memory(hob).status.status())["watched"] == []


@pytest.mark.usefixtures("at_once")
async def test_replaced_file_and_daily_note_are_indexed_without_a_turn(tmp_path: Path) -> None:
    paper = written(tmp_path, plan="Sow in March.") / "plan.md"
    async with visited(tmp_path) as hob:
        await hob.knows()
        assert await add(hob, paper) == []
        written(tmp_path, other="Sow in April.").joinpath("other.md").replace(paper)
        await taken_up(hob, paper, ["Sow in April."])
        for day, text in (("1", "Anna came."), ("2", "Anna left.")):  # the first makes the folder
            written(tmp_path / "workspace", **{f"memory_2026-01-0{day}": text})
            await taken_up(hob, Path(f"memory/2026-01-0{day}.md"), [text])


async def test_file_replaced_with_the_same_modification_time_is_indexed_again(tmp_path: Path, at_once: None) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    file, other = folder / "plan.md", tmp_path / "other.md"
    for path, text in ((file, "Plant beans."), (other, "Plant peas.")):
        path.write_text(text)
        os.utime(path, (5e8, 5e8))
    async with visited(tmp_path / "home") as hob:
        assert await add(hob, folder) == []
        other.replace(file)
        assert await add(hob, folder) == []
        assert await known(hob, folder) == ["Plant peas."]


@pytest.mark.usefixtures("deaf")
async def test_file_replaced_with_the_same_modification_time_while_hob_was_off_is_indexed_again(tmp_path: Path) -> None:
    # a file was known by its modification time alone after a restart, so one from an archive or `cp -p` was missed
    folder, disk = written(tmp_path / "papers", plan="Sow beans."), written(tmp_path / "disk", plan="Sow peas.")
    for path in (folder, disk):
        os.utime(path / "plan.md", (5e8, 5e8))
    async with visited(tmp_path, "Yes.") as hob:
        await hob.knows()
        await add(hob, folder)
    (disk / "plan.md").replace(folder / "plan.md")
    async with visited(tmp_path, "Yes.") as hob:
        await taken_up(hob, folder, ["Sow peas."])


async def test_folder_entry_that_may_not_be_read_is_reported_and_the_rest_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "notes").mkdir()
    (folder / "plan.md").write_text("Plant beans.")
    (folder / "secret.md").write_text("Hidden.")
    is_file = Path.is_file

    def refuse(path: Path) -> bool:
        if path.name == "secret.md":
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    async with visited(tmp_path / "home") as hob:
        (problem,) = await add(hob, folder)
        assert "Permission denied" in problem
        assert await known(hob, folder) == ["Plant beans."]


async def test_reset_reads_the_files_again_and_keeps_their_trust(tmp_path: Path, at_once: None) -> None:
    (file := tmp_path / "garden.md").write_text("Plant beans.")
    async with visited(tmp_path / "home") as hob:
        await add(hob, file)
        await memory(hob).upkeep.trust(f"document:{file}")
        for layer in ("document", "all"):
            await memory(hob).upkeep.reset(layer)
            assert await known(hob, file) == ["Plant beans."]
        (item,) = await hob.app.store.items.of(Scope("owner")).select("i.source = ?", (f"document:{file}",))
        assert item.label.trusted


@pytest.mark.usefixtures("deaf")
async def test_added_folder_is_checked_after_turns_if_it_cannot_be_watched(tmp_path: Path) -> None:
    folder, disk = written(tmp_path / "papers", plan="Sow in March.", old="The shed is green."), tmp_path / "disk"
    async with visited(tmp_path, *["Yes."] * 3) as hob:
        await hob.knows()
        assert await add(hob, folder) == [f"{folder}: changes may wait for the next turn: {UNABLE}"]
        assert (await memory(hob).status.status())["later"] == {str(folder): UNABLE}
        written(folder, plan="Sow in April.", new="The shed is red.")
        os.utime(folder / "plan.md", (1.0, 1.0))
        (folder / "old.md").unlink()
        await after_a_turn(hob, folder, ["Sow in April.", "The shed is red."])
        folder.rename(disk)
        await after_a_turn(hob, folder, ["Sow in April.", "The shed is red."])
        disk.rename(folder)


@pytest.mark.usefixtures("deaf")
async def test_change_during_a_look_at_files_triggers_another_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, at_work, go_on = written(tmp_path / "papers", plan="Sow in March."), asyncio.Event(), asyncio.Event()
    sync = documents.DocumentIndexer.sync

    async def slow(indexer: documents.DocumentIndexer, *among: None) -> int:
        new = await sync(indexer, *among)
        at_work.set()
        await go_on.wait()
        return new

    async with visited(tmp_path, "Yes.") as hob:
        await hob.knows()
        await add(hob, folder)
    monkeypatch.setattr(documents.DocumentIndexer, "sync", slow)
    async with visited(tmp_path, "Yes.") as hob:
        await at_work.wait()
        written(folder, plan="Sow in April, all day.")
        await hob.clock.advance(WALK_SECONDS + 1)
        await hob.answer("Something happens.", ME)
        go_on.set()
        await taken_up(hob, folder, ["Sow in April, all day."])


@pytest.mark.usefixtures("deaf")
async def test_folder_unmounted_while_being_read_stays_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, listed = written(tmp_path / "papers", plan="Sow in March."), documents._files

    def gone(path: Path, problems: list[str]) -> list[Path]:
        path.rename(tmp_path / "disk")
        return listed(path, problems)

    async with visited(tmp_path, "Yes.") as hob:
        await hob.knows()
        await add(hob, folder)
        monkeypatch.setattr(documents, "_files", gone)
        await after_a_turn(hob, folder, ["Sow in March."])
        async with asyncio.timeout(10):
            while folder.exists():  # noqa: ASYNC110 - a real thread moves it
                await asyncio.sleep(0.005)
    async with visited(tmp_path) as hob:
        assert await known(hob, folder) == ["Sow in March."]


@pytest.mark.usefixtures("at_once")
async def test_folders_beyond_the_watch_limit_are_checked_after_turns_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "_MAX_FOLDERS", 4)
    folder = written(tmp_path / "papers", **{f"{n}_plan": f"Row {n}." for n in range(5)})
    async with visited(tmp_path, "Yes.") as hob:
        await hob.knows()
        (problem,) = await add(hob, folder)
        assert "only the first 4 folders are watched" in problem
        assert list((await memory(hob).status.status())["later"]) == [str(folder)]
        for n in range(5):
            written(folder, **{f"{n}_plan": f"Row {n} is long."})
        await after_a_turn(hob, folder, [f"Row {n} is long." for n in range(5)])


@asynccontextmanager
async def heard(watch: FolderWatch) -> AsyncIterator[Callable[[], list[Path]]]:
    """What was heard until now."""

    def now() -> list[Path]:
        watch._on_readable()
        return sorted(watch._changed)

    with watch.opened():
        yield now


async def test_hidden_names_links_and_other_endings_are_not_watched(tmp_path: Path) -> None:
    folder, other, notes = tmp_path / "papers", tmp_path / "other", tmp_path / "notes"
    for each in (folder / ".git", other, notes / "deep"):
        each.mkdir(parents=True)
    (folder / "link").symlink_to(other)
    watch = FolderWatch()
    async with heard(watch) as now:
        watch.cover(folder)
        watch.cover(notes, ".md", below=False)
        for path in (folder / ".plan.md.swp", folder / ".git" / "HEAD", other / "plan.md", notes / "plan.txt",
                     notes / "deep" / "plan.md"):  # fmt: skip
            path.write_text("x")
        assert now() == []
        (notes / "plan.md").write_text("x")
        assert now() == [notes]
        watch.leave(folder)
        (folder / "plan.md").write_text("x")
        assert now() == [notes]


async def test_overflowing_change_queue_triggers_a_full_check(tmp_path: Path) -> None:
    busy, quiet = tmp_path / "busy", tmp_path / "quiet"
    busy.mkdir()
    quiet.mkdir()
    maximum = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watch = FolderWatch()
    async with heard(watch) as now:
        watch.cover(busy)
        watch.cover(quiet)
        for n in range(maximum // 2 + 1):
            (busy / str(n)).touch()
        (quiet / "plan.md").touch()
        assert any(quiet in now() for _ in range(maximum // 100))  # some at a time


async def test_watcher_reports_changes_after_a_quiet_period_or_at_the_latest_interval(tmp_path: Path) -> None:
    clock, watch, told = ManualClock(), FolderWatch(), list[float]()
    with watch.opened():
        watch.cover(tmp_path)

        async def listen() -> None:
            while True:
                assert await watch.changes(clock) == {tmp_path}
                told.append(clock.monotonic() - start)

        start = clock.monotonic()
        listening = asyncio.ensure_future(listen())
        for pause in (1.0, 1.0, 3.0):
            (tmp_path / "plan.md").write_text("x")
            watch._on_readable()
            await clock.advance(pause)
        (when,) = told
        assert 2 + QUIET_SECONDS <= when <= 2 + 2 * QUIET_SECONDS  # the last change was after two seconds
        for _ in range(20):
            (tmp_path / "plan.md").write_text("x")
            watch._on_readable()
            await clock.advance(1.0)
        assert len(told) >= 3
        listening.cancel()


async def test_expired_items_are_deleted_within_a_day_also_without_a_turn(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        now = hob.clock.now().timestamp()
        page = MemoryItem(
            scope=Scope("owner"), layer=Layer.TOOL, source="tool:web_fetch", text="news of the harbour",
            label=Label(Origin.WEB, Trust.UNTRUSTED), at=now, expires_at=now + 3_600,
        )  # fmt: skip
        await hob.app.store.items.add([page])
        async with asyncio.timeout(10):
            while await hob.app.store.items.of(Scope("owner")).select("i.layer = 'tool'"):
                await hob.clock.advance(3_600)
                await asyncio.sleep(0.005)
        assert hob.model.requests == []


@pytest.mark.usefixtures("at_once")
async def test_forgotten_section_stays_forgotten_when_another_one_of_its_file_changes(tmp_path: Path) -> None:
    folder = written(tmp_path / "papers", plan="Sow in March.", old="The shed is green.")
    plan = folder / "plan.md"
    plan.write_text("# a\nSow in March.\n# b\nThe safe is behind it.\n")
    async with visited(tmp_path) as hob:
        await add(hob, folder)
        items = await hob.app.store.items.of(Scope("owner")).select("i.layer = 'document'")
        (id,) = [item.id for item in items if "safe" in item.text]
        await memory(hob).upkeep.forget(ForgetRequest(id=id))
        plan.write_text("# a\nSow in April.\n\n# b\nThe safe is behind it.\n")
        await add(hob, folder)
        assert await known(hob, folder) == ["Sow in April.", "The shed is green."]
    async with visited(tmp_path) as hob:
        plan.write_text("# a\nSow in May.\n# b\nThe safe is behind it, on the left.\n")
        await add(hob, folder)
        assert await known(hob, folder) == ["Sow in May.", "The safe is behind it, on the left.", "The shed is green."]


async def test_folder_forgotten_while_it_is_read_is_neither_remembered_nor_watched(tmp_path: Path) -> None:
    folder = written(tmp_path / "papers", **{f"part{n}": f"Sow in March, {n}." for n in range(9)})
    async with visited(tmp_path) as hob:
        steps = memory(hob).items.add_files(str(folder))
        await anext(steps)
        await memory(hob).upkeep.forget(ForgetRequest(source=f"document:{folder}"))
        assert [step async for step in steps][-1]["seen"] == 9
        assert await known(hob, folder) == []
        assert (await memory(hob).status.status())["watched"] == []
        await add(hob, folder)
        assert len(await known(hob, folder)) == 8  # the first one has not changed since it was forgotten


async def test_clock_that_jumps_by_years_deletes_nothing_before_it_has_been_so_for_a_day(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        owner, lifetime, began = hob.app.store.items.of(Scope("owner")), 30 * 86_400.0, hob.clock.now()
        page = MemoryItem(
            scope=Scope("owner"), layer=Layer.TOOL, source="tool:web_fetch", text="news of the harbour",
            label=Label(Origin.WEB, Trust.UNTRUSTED), at=began.timestamp(), expires_at=began.timestamp() + lifetime,
        )  # fmt: skip
        await hob.app.store.items.add([page])
        place = partial(hob.app.store.memory_work.place, "pruned")
        async with asyncio.timeout(10):
            while not (pruned := await place()):
                await hob.clock.advance(1)
            hob.clock.set_wall(began + timedelta(days=1_000))
            hours = 0
            while await place() == pruned:
                if hours < 30:  # a slow machine must not reach the day after
                    await hob.clock.advance(3_600)
                    hours += 1
                await asyncio.sleep(0.005)
        assert await owner.select("i.layer = 'tool'")
        async with asyncio.timeout(10):
            while await owner.select("i.layer = 'tool'"):
                await hob.clock.advance(3_600)
                await asyncio.sleep(0.005)


async def test_documents_that_hob_can_read_are_remembered_and_cited_by_their_lines(tmp_path: Path) -> None:
    folder = written(tmp_path / "papers", boat="The boat is moored in Whitby, below the abbey.")
    (folder / "lease.pdf").write_bytes(samples.pdf("The lease of the shed ends in October."))
    (folder / "sums.xlsx").write_bytes(samples.xlsx())
    (folder / "book.epub").write_bytes(samples.epub())
    async with visited(tmp_path) as hob:
        await hob.knows()
        assert await add(hob, folder) == []
        kept = await hob.app.store.items.of(Scope("owner")).select("i.layer = 'document'")
        sources = {Path(item.source.partition(":")[2]).name for item in kept}
        assert sources == {"boat.md", "lease.pdf", "sums.xlsx", "book.epub"}
        assert any("lease of the shed ends in October" in item.text for item in kept)
        assert await hob.app.store.items.trust(Scope("owner"), f"document:{folder}", Trust.TRUSTED)
        await hob.answer("Where is the boat moored?", ME)
        (line,) = [line for line in hob.seen.splitlines() if "Whitby" in line]
        assert ", Source: /" in line
        assert line.endswith("boat.md#L1-L3]")
