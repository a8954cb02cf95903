"""OpenClaw's transcripts: a file of JSON lines per session, in newer releases rows in each agent's database.

https://docs.openclaw.ai/reference/session-management-compaction, https://docs.openclaw.ai/reference/database-schemas
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hob.app.imports.contents import (
    SkippedItem,
    SkippedPart,
    SourceConversation,
    SourceFolder,
)
from hob.app.imports.databases import open_listing
from hob.app.imports.source_files import (
    MAX_ARGUMENTS,
    MAX_CALLS,
    Object,
    Unreadable,
    inner,
    object_at,
    parse,
    read_lines,
    read_object,
    text_of,
    time_of,
)
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.imports import PastCall, PastMessage
from hob.store.backup.foreign import ForeignFile

DATABASE = "agent/openclaw-agent.sqlite"
_TABLES = {
    "transcript_events": {"session_id", "seq", "event_json"},
    "session_windows": {"session_id", "session_key"},
}
_TRANSCRIPT = re.compile(r"(?P<id>[A-Za-z0-9_-]{1,120})\.jsonl(?P<reset>\.reset\.[\w.:+-]{1,60})?")
_AGENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LOCKS = (".lock", ".tmp", ".bak")
_OWN_NOTES = frozenset({"session", "model_change", "thinking_level_change", "custom", "label", "session_info", "leaf"})
_UNREAD = "lines that cannot be read"
_COMPRESSED = "entries that OpenClaw keeps compressed"
_SUMMARIES = frozenset({"compaction", "branch_summary"})


@dataclass(frozen=True, slots=True)
class _Session:
    """A session's data apart from its messages.

    `since` (Unix seconds) is the time of messages without one; `owners`: whether its key can be trusted.
    """

    id: str
    key: str
    title: str
    since: float
    owners: bool


def conversations_of(source: SourceFolder) -> tuple[list[SourceConversation], list[SkippedItem]]:
    """Return every agent's sessions. A session in both a file and the database counts once, like each message."""
    found: list[SourceConversation] = []
    left: list[SkippedItem] = []
    agents = source.root / "agents"
    for folder in _folders(agents):
        if not _AGENT.fullmatch(folder.name) or folder.is_symlink():
            left.append(SkippedItem(str(folder), translatable("it is not an agent's folder")))
            continue
        rows = _index(folder / "sessions" / "sessions.json", source.root, left)
        found += _file_conversations(folder, source, rows, left)
        if (folder / "sessions" / "cold").exists():
            left.append(
                SkippedItem(
                    str(folder / "sessions" / "cold"), translatable("old sessions that OpenClaw keeps compressed")
                )
            )
        found += _database_conversations(folder, source, left)
    return found, left


def _folders(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []


def _index(path: Path, root: Path, left: list[SkippedItem]) -> Mapping[str, tuple[str, Object]]:
    """Return each session's key and row in the list of sessions, by session id."""
    if not path.exists():
        return {}
    try:
        table = read_object(path, root)
    except Unreadable as error:
        left.append(
            SkippedItem(str(path), translatable("{error}; sessions have no names of their own then", error=str(error)))
        )
        return {}
    return {str(row["sessionId"]): (key, row) for key, row in table.items() if inner(row, "sessionId")}


def _file_conversations(
    folder: Path, source: SourceFolder, rows: Mapping[str, tuple[str, Object]], left: list[SkippedItem]
) -> Iterator[SourceConversation]:
    sessions = folder / "sessions"
    for path in sorted(sessions.iterdir()) if sessions.is_dir() and not sessions.is_symlink() else ():
        name = path.name
        if ".deleted." in name:
            left.append(SkippedItem(str(path), translatable("it was deleted there")))
        if name == "sessions.json" or ".jsonl" not in name or ".deleted." in name or name.endswith(_LOCKS):
            continue
        match = _TRANSCRIPT.fullmatch(name)
        if match is None:
            left.append(SkippedItem(str(path), translatable("it is not a transcript")))
            continue
        if path.is_symlink() or not path.is_file():
            left.append(SkippedItem(str(path), translatable("it is a link or not a regular file")))
            continue
        status = path.stat()
        key, row = rows.get(match["id"], ("", {}))
        session = _Session(match["id"], key, _title(row), status.st_mtime, owners=source.owners)
        yield SourceConversation(
            _name(folder, session), str(path), partial(_read_file, path, source.root, session), session.title,
            status.st_size,
        )  # fmt: skip


def _database_conversations(
    folder: Path, source: SourceFolder, left: list[SkippedItem]
) -> Iterator[SourceConversation]:
    path = folder / DATABASE
    if not path.exists():
        return
    columns = ("session_id", "session_key")
    try:
        file, windows = open_listing(path, source, _TABLES, "session_windows", columns, "OpenClaw")
    except Unreadable as error:
        left.append(SkippedItem(str(path), str(error)))
        return
    since = path.stat().st_mtime
    for id, key in windows:
        if not isinstance(id, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,120}", id):
            left.append(SkippedItem(f"{path}: a session", translatable("it has no valid name")))
            continue
        session = _Session(id, str(key or ""), "", since, owners=source.owners)
        yield SourceConversation(_name(folder, session), f"{path}: {id}", partial(_read_rows, file, session))


def _name(folder: Path, session: _Session) -> str:
    return f"openclaw:{folder.name}/{session.id}"


def _title(row: Object) -> str:
    names = (row.get(name) for name in ("displayName", "label", "subject"))
    return next((text_of(name, 200) for name in names if isinstance(name, str) and name.strip()), "")


def _read_file(path: Path, root: Path, session: _Session) -> Iterator[PastMessage | SkippedPart]:
    lines = read_lines(path, root)
    yield from _read(session, ((n, parse(line or b"") or _UNREAD) for n, line in enumerate(lines, 1)))


def _read_rows(file: ForeignFile, session: _Session) -> Iterator[PastMessage | SkippedPart]:
    rows = file.rows("transcript_events", ("seq", "event_json"), "seq", (("session_id", session.id),))
    yield from _read(session, ((n, _COMPRESSED if text is None else parse(text) or _UNREAD) for n, text in rows))


def _read(session: _Session, entries: Iterable[tuple[Any, Object | str]]) -> Iterator[PastMessage | SkippedPart]:
    at = session.since
    owner = session.owners and _is_owners(session.key)
    same = _SameIds()
    for n, entry in entries:
        if isinstance(entry, str):
            yield SkippedPart(entry)
            continue
        message = object_at(entry, "message")
        found = time_of(message.get("timestamp")) or time_of(entry.get("timestamp"))
        at = at if found is None else found
        kind = text_of(entry.get("type"), 40)
        if kind == "message":
            yield same.numbered(_message(_key(entry.get("id"), n), message, at, owner=owner))
        elif kind in _SUMMARIES:
            yield SkippedPart("summaries (what they stand for is taken)")
        elif kind not in _OWN_NOTES:
            yield SkippedPart("entries of another kind")


class _SameIds:
    """Distinguishes messages with the same id: a different one gets a number before the id.

    Only the latest `maximum` ids are compared, since a transcript may not fit into memory.
    """

    def __init__(self, maximum: int = 20_000) -> None:
        self._maximum = maximum
        self._seen: dict[str, list[int]] = {}

    def numbered(self, said: PastMessage | SkippedPart) -> PastMessage | SkippedPart:
        """Return the message with a unique key; a repetition keeps the first one's key."""
        if isinstance(said, SkippedPart):
            return said
        content = hash((said.role, said.text, said.calls, said.call))
        known = self._seen.setdefault(said.key, [])
        if content not in known:
            known.append(content)
        if len(self._seen) > self._maximum:
            del self._seen[next(iter(self._seen))]
        nth = known.index(content)
        return replace(said, key=f"{nth + 1}:{said.key}") if nth else said


def _key(id: object, n: object) -> str:
    return f"id:{id}" if isinstance(id, str) and 0 < len(id) <= 120 and id.isprintable() else f"line:{n}"


def _is_owners(key: str) -> bool:
    """Return whether this is an agent's main session, which is the owner's; other sessions may be anyone's."""
    parts = key.split(":")
    return len(parts) == 3 and parts[0] == "agent" and parts[2] == "main"


def _message(key: str, message: Object, at: float, *, owner: bool) -> PastMessage | SkippedPart:
    text, calls = _contents(message.get("content"))
    match message.get("role"):
        case "user":
            by = inner(message, "provenance", "kind")
            said = PastMessage(key, "user", text, at, owner and by in (None, "external_user"))
        case "assistant":
            said = PastMessage(key, "assistant", text, at, calls=calls)
        case "toolResult":
            call = text_of(message.get("toolCallId"), 200)
            return PastMessage(key, "tool", text, at, call=call, is_error=message.get("isError") is True)
        case _:
            return SkippedPart("messages of another kind")
    return said if text or calls else SkippedPart("messages without a word")


def _contents(content: object) -> tuple[str, tuple[PastCall, ...]]:
    if isinstance(content, str):
        return text_of(content), ()
    texts: list[str] = []
    calls: list[PastCall] = []
    for block in content if isinstance(content, list) else ():
        match inner(block, "type"):
            case "text":
                texts.append(text_of(block.get("text")))
            case "image":
                texts.append("[a picture, which was not imported]")
            case "toolCall":
                written = json.dumps(block.get("arguments") or {}, ensure_ascii=False)
                arguments = text_of(written, MAX_ARGUMENTS)
                calls.append(PastCall(text_of(block.get("id"), 200), text_of(block.get("name"), 200), arguments))
    return text_of("\n".join(filter(None, texts))), tuple(calls[:MAX_CALLS])
