"""Conversations as JSON lines: one line of metadata, then one line per entry. Format version 1."""

import json
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import apsw

from hob.core.errors import NotFound
from hob.core.ids import SessionKey
from hob.core.translation.language import translatable
from hob.store.codec import ENTRY_COLUMNS, ENTRY_TABLES, dump_json
from hob.store.database.part import StorePart
from hob.store.database.rows import Row, all_rows

VERSION = 1
_BATCH = 200

_SESSION = (
    "SELECT key, chat, c.text, c.erased, model, mode, thinking, permission, autonomy, archived, entries, since,"
    " created, updated"
    " FROM sessions s LEFT JOIN content c ON c.id = s.title WHERE key = ?"
)
_ENTRIES = (
    f"SELECT {ENTRY_COLUMNS}, t.hidden, c.erased FROM {ENTRY_TABLES}"  # noqa: S608
    " WHERE t.session = ? AND t.n > ? ORDER BY t.n LIMIT ?"
)
_SUMMARIES = (
    "SELECT upto, c.text, c.erased, origin, trust, model, at, undone FROM summaries m JOIN content c ON c.id = m.text"
    " WHERE session = ? ORDER BY m.id"
)


class Export(StorePart):
    """Exports conversations in a form independent of Hob."""

    async def session(self, key: SessionKey) -> AsyncIterator[str]:
        """Yield the lines of one session without line ends. Erased entries are marked. Raises NotFound."""
        row = await self._row(_SESSION, (key,))
        if row is None:
            raise NotFound(translatable("There is no conversation {key}.", key=key))
        yield self._metadata(row)
        for line in await self._readers.read(lambda c: [_summary(row) for row in all_rows(c, _SUMMARIES, (key,))]):
            yield line
        after = 0
        while rows := await self._readers.read(partial(_entries, key, after)):
            for row in rows:
                yield _entry(row)
            after = rows[-1][0]

    async def everything(self) -> AsyncIterator[str]:
        """Yield the lines of all sessions, oldest session first."""
        rows = await self._rows("SELECT key FROM sessions ORDER BY created, key")
        for (key,) in rows:
            async for line in self.session(key):
                yield line

    def _metadata(self, row: Sequence[Any]) -> str:
        (
            key, chat, title, erased, model, mode, thinking, permission, autonomy, archived, entries, since, created,
            updated,
        ) = row  # fmt: skip
        return dump_json(
            {
                "type": "hob-export", "version": VERSION, "session": key, "chat": chat, "title": title or "",
                "title_erased": erased, "model": model, "mode": mode, "thinking": thinking, "permission": permission,
                "autonomy": autonomy, "archived": bool(archived), "entries": entries, "since": since,
                "created": created, "updated": updated, "exported": self._now(),
            }
        )  # fmt: skip


def _entries(key: SessionKey, after: int, connection: apsw.Connection) -> list[Row]:
    return all_rows(connection, _ENTRIES, (key, after, _BATCH))


def _entry(row: Sequence[Any]) -> str:
    n, _, role, turn, at, origin, trust, text, extra, hidden, erased = row
    data: dict[str, Any] = {"type": "entry", "n": n, "role": role, "at": at, "turn": turn}
    if text is None:
        data |= {"type": "tombstone", "erased": erased}
        return dump_json(data)
    data |= {"label": {"origin": origin, "trust": trust}, "text": text}
    if hidden:
        data["hidden"] = True
    more = json.loads(extra) if extra else {}
    if "calls" in more:
        data["calls"] = [dict(zip(("id", "name", "arguments"), call, strict=True)) for call in more.pop("calls")]
    if "images" in more:
        data["images"] = [dict(zip(("blob", "media_type"), image, strict=True)) for image in more.pop("images")]
    return dump_json(data | more)


def _summary(row: Sequence[Any]) -> str:
    upto, text, erased, origin, trust, model, at, undone = row
    data: dict[str, Any] = {"type": "summary", "upto": upto, "at": at, "model": model}
    if text is None:
        return dump_json(data | {"type": "tombstone", "role": "summary", "erased": erased})
    return dump_json(data | {"label": {"origin": origin, "trust": trust}, "undone": undone, "text": text})
