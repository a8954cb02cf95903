"""A memory source in one file: lines of a text file that share a word with the query."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from hob.core.ids import SessionKey
from hob.core.memory import Memory
from hob.core.settings import setting
from hob.core.trust.labels import Label, Origin, Trust


@dataclass(frozen=True)
class AlmanacSettings:
    """`[almanac]` in config.toml."""

    file: Path = setting(Path("~/almanac.txt"), "The file, one fact on a line.")


class Almanac:
    """Implements `hob.core.ports.memory.Recall`. The file's text is untrusted, like all files."""

    settings = AlmanacSettings

    def __init__(self, settings: AlmanacSettings) -> None:
        self._file = settings.file

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """Return the facts that share a word with the query."""
        lines = (await asyncio.to_thread(self._file.read_text, "utf-8")).splitlines()
        words = set(query.casefold().split())
        found = [line for line in lines if words & set(line.casefold().strip(".").split())]
        return tuple(Memory(line, "almanac", Label(Origin.FILE, Trust.UNTRUSTED)) for line in found[:limit])
