"""KafClaw: https://github.com/kafclaw/kafclaw. Its folder is `~/.kafclaw`: `config.json`, sessions, `timeline.db`.

A session is a file of JSON lines in `sessions/`, as with nanobot. Its workspace is always `~/KafClaw-Workspace`,
whatever its configuration says, and the work repository has `memory/MEMORY.md`. Memories it was asked to keep
(`memory_chunks`) become a conversation, so that they can be found again; so do its observations and working notes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from hob.app.imports.contents import (
    Assistant,
    Contents,
    SkippedItem,
    SkippedPart,
    SourceConversation,
    SourceFile,
    SourceFolder,
)
from hob.app.imports.databases import open_listing
from hob.app.imports.folders import WorkspaceLayout, find_named_folder, read_config, take_workspace, transcripts
from hob.app.imports.nanobot import read_session_file
from hob.app.imports.setting_mapping import SettingMapping, leave_rest, usual_wire
from hob.app.imports.source_files import (
    Object,
    Unreadable,
    inner,
    object_at,
    text_of,
    time_of,
)
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.gateway.imports import PastMessage
from hob.store.backup.foreign import ForeignFile

_IDENTITY = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md")
_LAYOUT = WorkspaceLayout(
    files={name: name for name in _IDENTITY} | {"memory/MEMORY.md": "MEMORY.md"},
    folders={"memory": "memory", "skills": "skills"},
    not_taken={},
    silent=frozenset({"requirements", "tasks", "docs", ".git"}),
)
_CHUNKS = {"memory_chunks": {"id", "content", "source", "created_at"}}
_OWN_WORD = "user"
"""The source of memories that it was asked to keep."""
_OTHER_CHUNKS: Mapping[str, str] = {
    "soul": "a copy of its identity files, which are taken themselves",
    "conversation": "a copy of its sessions, which are taken themselves",
    "tool": "results of tools; what Hob needs it reads again",
    "group": "Hob has no groups yet",
}
_REMEMBERED = (
    ("remembered", "Remembered", "memory_chunks", ("id",), "created_at", (("source", _OWN_WORD),)),
    ("observations", "Observations", "observations", ("id",), "observed_at", ()),
    ("working-notes", "Working notes", "working_memory", ("resource_id", "thread_id", "updated_at"), "updated_at", ()),
)
"""Conversations made of tables: name, title, table, key columns, time column, and which rows."""
_REASONS: Mapping[str, str] = {
    "tools": "what tools may do is never taken over; see `hob policy`",
    "gateway": "Hob's own gateway has settings of its own; see `hob config show`",
    "group": "Hob has no groups yet",
    "channels": "the connection itself is not taken: Hob has no such channel yet",
}
_TAKEN = ("providers", "model.name")


def _places(environ: Mapping[str, str], home: Path) -> Sequence[Path]:
    named = environ.get("KAFCLAW_HOME")
    return (*((Path(named) / ".kafclaw",) if named else ()), home / ".kafclaw")


def _knows(folder: Path) -> bool:
    return (folder / "timeline.db").is_file() or (folder.name == ".kafclaw" and (folder / "config.json").is_file())


def _read(source: SourceFolder) -> Contents:
    root, path = source.root, source.root / "config.json"
    if not _knows(root):
        raise Unreadable(
            translatable("{root} is not a KafClaw folder: there is neither config.json nor timeline.db", root=str(root))
        )
    left: list[SkippedItem] = []
    config = read_config(path, root, left)
    files: list[SourceFile] = []
    for folder in _workspaces(source, config):
        found, told = take_workspace(folder, _LAYOUT)
        files += found
        left += told
    conversations = [*_sessions(root / "sessions", left), *_memory_conversations(source, left)]
    mapping = _settings(config, source)
    return Contents(tuple(files), tuple(conversations), mapping.settings, mapping.keys, (*left, *mapping.left))


def _workspaces(source: SourceFolder, config: Object) -> Iterator[Path]:
    """Yield the workspace beside the folder, and a separate work repository; only for an owner's own folder."""
    named = (source.root.parent / "KafClaw-Workspace", inner(config, "paths", "workRepoPath")) if source.owners else ()
    yield from dict.fromkeys(folder for each in named if (folder := find_named_folder(str(each or ""))) is not None)


def _sessions(folder: Path, left: list[SkippedItem]) -> Iterator[SourceConversation]:
    for path in transcripts(folder, left):
        status, key = path.stat(), re.sub(r"[^A-Za-z0-9_.@+-]", "_", path.stem)
        # the file does not say whose session it is: strangers may have written in any of them
        read = partial(read_session_file, path, folder, status.st_mtime, owner=False)
        yield SourceConversation(f"kafclaw:{key}", str(path), read, size=status.st_size)


def _memory_conversations(source: SourceFolder, left: list[SkippedItem]) -> Iterator[SourceConversation]:
    path = source.root / "timeline.db"
    if not path.exists():
        return
    try:
        file, chunks = open_listing(path, source, _CHUNKS, "memory_chunks", ("id", "source"), "KafClaw")
        tables = {table: file.columns(table) for _, _, table, *_ in _REMEMBERED}
    except (Unreadable, InvalidRequest) as error:
        left.append(SkippedItem(str(path), str(error)))
        return
    kinds = Counter(text_of(kind, 200).partition(":")[0] for _, kind in chunks if kind != _OWN_WORD)
    for kind, count in kinds.items():
        why = _OTHER_CHUNKS.get(kind, "nothing that it was asked to remember")
        left.append(SkippedItem(f"{path}: memory_chunks, {kind} ({count})", why))
    for name, title, table, key, at, where in _REMEMBERED:
        if {*key, "content", at} <= tables[table]:
            read = partial(_read_table, file, table, key, at, where)
            yield SourceConversation(f"kafclaw:{name}", f"{path}: {table}", read, title)
        elif tables[table]:
            left.append(SkippedItem(f"{path}: {table}", translatable("Hob does not know its columns")))


def _read_table(
    file: ForeignFile, table: str, key: Sequence[str], at: str, where: Sequence[tuple[str, str]]
) -> Iterator[PastMessage | SkippedPart]:
    for text, stamp, *named in file.rows(table, ("content", at, *key), at, where):
        said = text_of(text)
        written = stamp if not isinstance(stamp, str) or "T" in stamp else stamp.replace(" ", "T")[:19] + "+00:00"
        if said.strip():
            # the table does not say whose rows these are: strangers may have caused them
            yield PastMessage(text_of(" ".join(map(str, named)), 200), "user", said, time_of(written) or 0.0)
        else:
            yield SkippedPart("messages without a word")


def _settings(config: Object, source: SourceFolder) -> SettingMapping:
    mapping = SettingMapping(source.environ, source.owners)
    for name, provider in object_at(config, "providers").items():
        key, address = inner(provider, "apiKey"), inner(provider, "apiBase")
        if key or address:
            mapping.provider(name, f"providers.{name}", base_url=address, wire=usual_wire(name), key=key)
    mapping.model(inner(config, "model", "name"), "model.name")
    mapping.finish()
    leave_rest(mapping, config, _TAKEN, _REASONS, "config.json")
    return mapping


ASSISTANT = Assistant("kafclaw", "KafClaw", _places, _knows, _read)
