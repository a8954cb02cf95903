"""What a session is at: one short text that its turns hand on to each other."""

import asyncio
import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hob.core.clock import Clock
from hob.core.errors import StoreFull
from hob.core.ids import SessionKey, TurnId, digest
from hob.core.labels import Label, Origin, Trust
from hob.tools.filesystem.line_file import replace_file, sync_folder
from hob.tools.memory.forgotten import Forgotten

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class WorkingNote:
    """The text, and whether it was written in a context that may be trusted."""

    text: str
    label: Label
    at: float = 0.0
    """When it was put, in Unix seconds."""
    turn: str = ""
    """Which turn wrote it."""


class WorkingMemory(Protocol):
    """Keeps one note for each session."""

    async def load(self, session: SessionKey) -> WorkingNote | None:
        """The session's note; None if it has none, or none that can be read."""
        ...

    async def put(self, session: SessionKey, note: WorkingNote) -> None:
        """Keep this one in place of the old; an empty text keeps none. Durable when it returns. Raises StoreError."""
        ...


class FileWorkingMemory:
    """Implements `WorkingMemory` over a folder, with a file for each session."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._forgotten = Forgotten(folder.parent)
        self._clock = clock

    async def load(self, session: SessionKey) -> WorkingNote | None:
        return await asyncio.to_thread(self._load, self._path(session))

    async def put(self, session: SessionKey, note: WorkingNote) -> None:
        try:
            await asyncio.to_thread(self._put, self._path(session), note)
        except OSError as error:
            raise StoreFull(f"{self._folder} cannot be written: {error.strerror or error}.") from error

    async def forget(self, turns: Collection[TurnId], session: SessionKey | None) -> None:
        """Forget the notes that these turns wrote, and that of a session where one is given. Raises OSError."""
        await asyncio.to_thread(self._forget, turns, session)

    async def naming(self, names: re.Pattern[str]) -> tuple[str, ...]:
        """The notes, of any session, in which this is found."""
        return await asyncio.to_thread(lambda: tuple(note.text for _, note in self._naming(names)))

    async def forget_naming(self, names: re.Pattern[str]) -> None:
        """Forget those. Raises OSError."""

        def drop() -> None:
            for path, note in tuple(self._naming(names)):
                self._drop(path, note)
            if self._folder.exists():
                sync_folder(self._folder)

        await asyncio.to_thread(drop)

    def _naming(self, names: re.Pattern[str]) -> Iterator[tuple[Path, WorkingNote]]:
        for path in self._folder.glob("*.json"):
            note = self._load(path)
            if note is not None and names.search(note.text):
                yield path, note

    def _forget(self, turns: Collection[TurnId], session: SessionKey | None) -> None:
        for path in self._folder.glob("*.json"):
            note = self._load(path)
            if note is None or note.turn in turns or (session is not None and path == self._path(session)):
                self._drop(path, note)
        if self._folder.exists():
            sync_folder(self._folder)

    def _drop(self, path: Path, note: WorkingNote | None) -> None:
        if note is not None:
            self._forgotten.add([{"turn": note.turn, "at": note.at}])
        path.unlink(missing_ok=True)

    def _path(self, session: SessionKey) -> Path:
        return self._folder / f"{digest(session)}.json"

    def _load(self, path: Path) -> WorkingNote | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(path.read_bytes())
            if found["v"] == _FORMAT:
                label = Label(Origin(found["origin"]), Trust(found["trust"]))
                return WorkingNote(str(found["text"]), label, float(found.get("at", 0.0)), str(found.get("turn", "")))
        return None

    def _put(self, path: Path, note: WorkingNote) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not note.text:
            path.unlink(missing_ok=True)
            sync_folder(self._folder)
        else:
            value: dict[str, object] = {
                "v": _FORMAT,
                "text": note.text,
                "origin": note.label.origin,
                "trust": note.label.trust,
            }
            value["turn"] = note.turn
            value["at"] = self._clock.now().timestamp()
            replace_file(path, json.dumps(value).encode())
