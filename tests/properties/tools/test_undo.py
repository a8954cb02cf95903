"""Whatever is done to files, undoing a turn restores the earlier state and keeps foreign changes."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hob.core.ids import TurnId
from hob.tools.undo.changes import FileChangesPort
from tests.tools.calling import text_of
from tests.tools.keeping import ChangesInMemory, file_tools

OTHERS = {("t_2", "delete"), ("owner", "delete")}
"""A removed file looks the same whoever removed it, so only the turn itself removes files."""

names = st.sampled_from(["a", "b", "sub/c"])
whos = st.sampled_from(["t_1", "t_1", "t_2", "owner"])
acts = st.tuples(whos, names, st.sampled_from(["write", "write", "delete"])).filter(lambda act: act[::2] not in OTHERS)


async def act(top: Path, changes: FileChangesPort, n: int, who: str, name: str, what: str) -> None:
    path = top / "ws" / name
    if who == "owner":
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"owner {n}\n") if what == "write" else path.unlink(missing_ok=True)
        return
    files = file_tools(top, changes=changes).toolset
    if what == "write":
        await text_of(files, "write", turn=who, path=name, content=f"{who} {n}\n")
    elif path.exists():
        patch = f"*** Begin Patch\n*** Delete File: {name}\n*** End Patch"
        await text_of(files, "apply_patch", turn=who, patch=patch)


async def play(top: Path, played: list[tuple[str, str, str]]) -> None:
    """`expected` is each file's state before the last changes of t_1 that nobody has touched since."""
    changes = ChangesInMemory()
    expected: dict[str, str | None] = dict.fromkeys(("a", "b", "sub/c"))
    last: dict[str, str] = {}
    for n, (who, name, what) in enumerate(played):
        path = top / "ws" / name
        before = path.read_text() if path.exists() else None
        await act(top, changes, n, who, name, what)
        after = path.read_text() if path.exists() else None
        if after != before:
            if who != "t_1" or last.get(name) != "t_1":
                expected[name] = before if who == "t_1" else after
            last[name] = who
    kept = {name: text for name, text in expected.items() if last.get(name) == "t_1"}
    others = {name: (top / "ws" / name).read_text() if (top / "ws" / name).exists() else None for name in expected}
    for _ in range(2):
        await file_tools(top, changes=changes).undo.restore(TurnId("t_1"))
        for name in expected:
            path = top / "ws" / name
            assert (path.read_text() if path.exists() else None) == (kept[name] if name in kept else others[name])


@given(st.lists(acts, max_size=10))
def test_undo_restores_earlier_states_and_keeps_foreign_changes(played: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        (top / "ws").mkdir()
        asyncio.run(play(top, played))
