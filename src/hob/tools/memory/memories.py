"""What is kept to be remembered, in one file, found again by its words: simple on purpose, for a modest number."""

import asyncio
import logging
import math
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hob.core.clock import Clock
from hob.core.ids import SessionKey, TurnId
from hob.core.labels import Label, Origin, Trust
from hob.core.ports.memory import Memory
from hob.tools.filesystem.line_file import LineFile
from hob.tools.memory.forgotten import Forgotten

log = logging.getLogger(__name__)

_FORMAT = 1
_WORD = re.compile(r"\w{2,}")
_STEM = 5  # letters by which longer words are taken for the same: plurals and cases end differently


@dataclass(frozen=True, slots=True)
class _Kept:
    session: SessionKey
    memory: Memory
    words: frozenset[str]


class FileMemories:
    """Implements `Remember` and `Recall`: each session remembers its own, and nothing of another's."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._lines = LineFile(path)
        self._forgotten = Forgotten(path.parent)
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: list[_Kept] | None = None

    async def remember(self, text: str, session: SessionKey, label: Label, source: str) -> None:
        """Keep it, once. Raises StoreFull."""
        at = self._clock.now().timestamp()
        await asyncio.to_thread(self._add, session, Memory(text, source, label, at))

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """Those that share words with the query, rare words counting more; of equals the newest first."""
        try:
            kept = await asyncio.to_thread(self._load)
        except OSError as error:
            log.warning("memories cannot be read: %s", error)
            return ()
        return _best([each for each in kept if each.session == session], words_of(query), limit)

    async def forget(self, turns: Collection[TurnId], session: SessionKey | None) -> None:
        """Forget what was remembered in these turns, and in a whole session where one is given. Raises OSError."""
        ends = tuple(f", {turn}" for turn in turns)

        def wanted(line: Mapping[str, Any]) -> bool:
            source = str(line.get("source", ""))
            of_session = session is not None and (line.get("session") == session or source.startswith(f"{session}, "))
            return not (source.endswith(ends) or of_session)

        await asyncio.to_thread(self._drop, wanted)

    async def naming(self, names: re.Pattern[str]) -> tuple[str, ...]:
        """The texts, of any session, in which this is found."""
        kept = await asyncio.to_thread(self._load)
        return tuple(each.memory.text for each in kept if names.search(each.memory.text))

    async def forget_naming(self, names: re.Pattern[str]) -> None:
        """Forget those. Raises OSError."""
        await asyncio.to_thread(self._drop, lambda line: not names.search(str(line.get("text", ""))))

    def _drop(self, wanted: Callable[[Mapping[str, Any]], bool]) -> None:
        with self._lock:
            self._forgotten.add(line for line in self._lines.load() if not wanted(line))
            self._lines.keep(wanted)
            self._kept = None

    def _add(self, session: SessionKey, memory: Memory) -> None:
        with self._lock:
            kept = self._loaded()
            if any(
                each.session == session and (each.memory.text, each.memory.label) == (memory.text, memory.label)
                for each in kept
            ):
                return
            label = {"origin": memory.label.origin, "trust": memory.label.trust}
            line = {"v": _FORMAT, "session": session, "text": memory.text, "source": memory.source, "at": memory.at}
            self._lines.append({**line, "label": label})
            self._kept = [*kept, _Kept(session, memory, words_of(memory.text))]

    def _load(self) -> list[_Kept]:
        with self._lock:
            return self._loaded()

    def _loaded(self) -> list[_Kept]:
        if self._kept is None:
            self._kept = [kept for line in self._lines.load() if (kept := _read(line)) is not None]
        return self._kept


def words_of(text: str) -> frozenset[str]:
    """The words of a text as they are compared: without case, and without the ends of long ones."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))


def _best(kept: Sequence[_Kept], wanted: frozenset[str], limit: int) -> tuple[Memory, ...]:
    weights = {word: math.log(1 + len(kept) / (1 + sum(word in each.words for each in kept))) for word in wanted}
    whole = sum(weights.values()) or 1.0
    found = [(sum(weights[word] for word in wanted & each.words) / whole, each.memory) for each in kept]
    ranked = sorted((pair for pair in found if pair[0] > 0), key=lambda pair: (pair[0], pair[1].at), reverse=True)
    return tuple(Memory(each.text, each.source, each.label, each.at, relevance) for relevance, each in ranked[:limit])


def _read(line: Mapping[str, Any]) -> _Kept | None:
    try:
        if line["v"] != _FORMAT:
            return None
        label = Label(Origin(line["label"]["origin"]), Trust(line["label"]["trust"]))
        memory = Memory(str(line["text"]), str(line["source"]), label, float(line["at"]))
        return _Kept(SessionKey(line["session"]), memory, words_of(memory.text))
    except (KeyError, TypeError, ValueError):
        return None
