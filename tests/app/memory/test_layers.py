"""A layer that a plug-in brings has its prefix, its time and its colour, and all that holds for memory holds for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.app.subsystem import Subsystem
from hob.core.lazy import Lazy
from hob.core.memory import Memory, MemoryLayer
from hob.core.trust.labels import OWNER_LABEL
from hob.gateway.memory import ForgetRequest, MemoryQuery
from hob.store.backup.backup import restore
from hob.store.memory.layers import KeptLayer
from tests.app.memory.test_control import CANARY, last, leaks, memory
from tests.app.visiting import ME, Visited, visited

LINES = [Memory(f"The {CANARY} came back to the chimney.", "", OWNER_LABEL), Memory("Rain.", "", OWNER_LABEL)]


class Logbook:
    """A plug-in with a layer."""

    def __init__(self) -> None:
        self.layer: KeptLayer
        layers = (MemoryLayer("logbook", "entries of the logbook", 30, "#84cc16"),)
        self.feature = Subsystem(name="logbook", layers=layers, plugin=True, open=Lazy(lambda: self._open))

    @asynccontextmanager
    async def _open(self, kernel: Kernel) -> AsyncIterator[Contribution]:
        self.layer = kernel.layer("logbook")
        with pytest.raises(KeyError):
            kernel.layer("fact")
        yield Contribution()


async def shown(hob: Visited) -> dict[str, object]:
    layers = (await memory(hob).status.status())["layers"]
    return next(({**each} for each in layers if each["name"] == "logbook"), {})


async def test_layer_of_a_plugin_is_shown_found_and_recalled_with_its_colour(tmp_path: Path) -> None:
    logbook = Logbook()
    async with visited(tmp_path, further=[logbook.feature]) as hob:
        await hob.knows()
        empty = {
            "name": "logbook", "source_prefix": "logbook:", "description": "entries of the logbook", "ttl_days": 30,
            "chunk_count": 0, "color": "#84cc16",
        }  # fmt: skip
        assert await shown(hob) == empty
        assert await logbook.layer.replace("log.txt", LINES) == 2
        assert await logbook.layer.keep("log.txt", LINES) == 0
        assert await shown(hob) == empty | {"chunk_count": 2}
        (item,) = (await memory(hob).items.items(MemoryQuery(query="chimney", layer="logbook")))["items"]
        assert (item["source"], item["layer"], item["color"]) == ("logbook:log.txt", "logbook", "#84cc16")
        await hob.answer("What came back to the chimney?", ME)
        assert f"The {CANARY} came back" in hob.seen
        assert await logbook.layer.replace("log.txt", LINES[1:]) == 0
        assert (await shown(hob))["chunk_count"] == 1


async def test_layer_of_a_plugin_is_pruned_emptied_erased_and_backed_up_also_while_it_is_off(tmp_path: Path) -> None:
    logbook, copy = Logbook(), tmp_path / "copy.db"
    async with visited(tmp_path, further=[logbook.feature]) as hob:
        await logbook.layer.keep("log.txt", LINES)
        await hob.app.operations.backup(copy)
        lines = [line async for line in memory(hob).upkeep.export() if '"layer": "logbook"' in line]
        await hob.clock.advance(29 * 86_400)
        assert (await memory(hob).upkeep.prune())["deleted"] == 0
        await hob.clock.advance(2 * 86_400)
        await memory(hob).upkeep.prune()  # or the daily round was faster
        assert (await shown(hob))["chunk_count"] == 0
    former = restore(tmp_path / "state", copy)
    assert former is not None
    former.unlink()
    async with visited(tmp_path) as hob:
        off = await shown(hob)
        assert (off["description"], off["chunk_count"], off["ttl_days"]) == ("of a plug-in that is off", 2, 0)
        (item,) = (await memory(hob).items.items(MemoryQuery(query="chimney")))["items"]
        await memory(hob).upkeep.forget(ForgetRequest(id=item["id"], preview=False))
        assert [name for name in leaks(tmp_path) if not name.startswith("daily-")] == []  # a backup is named, and stays
        assert (await memory(hob).upkeep.reset("logbook"))["deleted"] == 1
        assert await shown(hob) == {}
    async with visited(tmp_path / "other") as hob:
        assert (await last(memory(hob).upkeep.import_items(lines)))["new"] == 2
        assert (await shown(hob))["chunk_count"] == 2
        assert (await memory(hob).upkeep.reset("all"))["deleted"] >= 2
