"""Whatever tools, commands and people do to files, undoing a turn reverts only its own changes."""

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hob.core.clock import SystemClock
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun, undo_turn_id
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.tools.exec.command_log import CommandLog
from hob.tools.undo.snapshots.snapshots import Snapshots
from hob.tools.undo.turn_undo import TurnUndo
from tests.tools.calling import text_of
from tests.tools.keeping import FolderBlobs, file_tools

TURN = TurnId("t_1")
NAMES = ("a", "b", "sub/c")
State = tuple[str, int] | None
"""Content and mode of a file; None if it does not exist."""

acts = st.tuples(
    st.sampled_from(["t_1", "t_1", "t_1", "t_2", "owner"]),
    st.sampled_from(["tool", "command"]),
    st.sampled_from(NAMES),
    st.sampled_from(["write", "write", "delete", "chmod"]),
)
Act = tuple[str, str, str, str]


@dataclass
class Bench:
    """A workspace and the history of each file: its states with their authors, the first without one."""

    top: Path
    store: Store
    past: dict[str, list[tuple[str, State]]] = field(default_factory=lambda: {name: [("", None)] for name in NAMES})

    def __post_init__(self) -> None:
        blobs, changes = FolderBlobs(self.top / "blobs"), self.store.file_changes
        files = file_tools(self.top, changes=changes)
        self.log = CommandLog(self.store.command_log, Snapshots(self.top / "snapshots", SystemClock()))
        self.undo = TurnUndo(self.log, files.undo, changes, blobs)
        self.work = self.top / "ws"

    def state(self, name: str) -> State:
        path = self.work / name
        return (path.read_text(), path.stat().st_mode & 0o777) if path.exists() else None

    def states(self) -> dict[str, State]:
        return {name: self.state(name) for name in NAMES}

    def act(self, n: int, who: str, name: str, what: str) -> None:
        """Let a command or a person act. Only the turn deletes, so that every foreign state is distinguishable."""
        path = self.work / name
        if what == "write" or who != "t_1" or not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{who} {n}\n")
        elif what == "delete":
            path.unlink()
        else:
            path.chmod(0o600 + n % 8)

    async def tool(self, n: int, who: str, name: str, what: str) -> None:
        tools = file_tools(
            self.top, changes=self.store.file_changes
        ).toolset  # new ones, which do not check whether the file was read
        if what == "delete" and who == "t_1" and (self.work / name).exists():
            patch = f"*** Begin Patch\n*** Delete File: {name}\n*** End Patch"
            await text_of(tools, "apply_patch", turn=who, patch=patch)
        else:
            await text_of(tools, "write", turn=who, path=name, content=f"{who} {n}\n")

    async def command(self, n: int, who: str, name: str, what: str) -> None:
        turn, call = TurnId(who), CallId(f"c{n}")
        await self.log.begin(CommandRun(turn, call, SessionKey("s"), "…"), [self.work])
        self.act(n, who, name, what)
        await self.log.end(turn, call, "exit status 0")

    async def play(self, played: list[Act]) -> None:
        for n, (who, how, name, what) in enumerate(played):
            if who == "owner":
                self.act(n, who, name, what)
            else:
                await (self.tool if how == "tool" else self.command)(n, who, name, what)
            for each, past in self.past.items():
                if (now := self.state(each)) != past[-1][1]:
                    past.append((who, now))

    def expected(self, name: str) -> State:
        """Return the file's state before the turn's last changes, if nobody else has changed it since."""
        return next(state for who, state in reversed(self.past[name]) if who != TURN)


async def check(top: Path, played: list[Act]) -> None:
    async with open_store(top / "home", StoreSettings(), SystemClock()) as store:
        await check_bench(Bench(top, store), played)


async def check_bench(bench: Bench, played: list[Act]) -> None:
    await bench.play(played)
    before = bench.states()
    expected = {name: bench.expected(name) for name in NAMES}
    preview = await bench.undo.preview(TURN)
    assert bench.states() == before
    done = await bench.undo.restore(TURN)
    assert bench.states() == expected
    assert (set(done.restored), set(done.kept)) == (set(preview.outcome.restored), set(preview.outcome.kept))
    kept = {each.path for each in done.kept if Path(each.path).is_file()}
    changed = {str(bench.work / name) for name in NAMES if any(who == TURN for who, _ in bench.past[name])}
    others = {str(bench.work / name) for name in NAMES if bench.past[name][-1][0] not in ("", TURN)}
    assert kept == changed & others
    assert all(each.reason for each in done.kept)
    await bench.undo.restore(TURN)
    assert bench.states() == expected
    await bench.undo.restore(undo_turn_id(TURN))
    assert bench.states() == before


@given(st.lists(acts, max_size=8))
def test_turn_is_undone_except_later_changes_and_the_undo_is_undoable(played: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        (top / "ws").mkdir()
        asyncio.run(check(top, played))
