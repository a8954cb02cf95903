"""nanobot: https://github.com/HKUDS/nanobot. Its folder is `~/.nanobot`: `config.json`, and a workspace.

A session is a file of JSON lines in `sessions/` of the workspace (the first releases: of the folder), or rows of
`sessions.sqlite3` there. From 0.3.5 on each workspace has a folder in `sessions/` of the folder, named by its id (32
hexadecimal digits, also in `.nanobot/workspace-id` of the workspace), and files are named by their key in base64.
Names in the configuration are written in camelCase or snake_case.
"""

import json
import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from hob.app.imports.contents import (
    Assistant,
    Contents,
    SkippedItem,
    SkippedPart,
    SourceConversation,
    SourceFolder,
)
from hob.app.imports.databases import open_listing
from hob.app.imports.folders import WorkspaceLayout, find_named_folder, read_config, take_workspace, transcripts
from hob.app.imports.setting_mapping import SettingMapping, leave_rest, usual_wire
from hob.app.imports.source_files import (
    MAX_ARGUMENTS,
    MAX_CALLS,
    Object,
    Unreadable,
    inner,
    object_at,
    parse,
    read_bytes,
    read_lines,
    text_of,
    time_of,
)
from hob.core.translation.language import translatable
from hob.gateway.imports import PastCall, PastMessage
from hob.store.backup.foreign import ForeignFile

_IDENTITY = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md")
_LAYOUT = WorkspaceLayout(
    files={**{name: name for name in _IDENTITY}, "memory/MEMORY.md": "MEMORY.md"},
    folders={"memory": "memory", "skills": "skills"},
    not_taken={"cron": "Hob has no scheduled jobs yet", "BOOTSTRAP.md": "it is nanobot's first talk"},
    silent=frozenset({"sessions"}),
)
_DATABASE = "sessions.sqlite3"
_TABLES = {"messages": {"session_key", "position", "record"}, "sessions": {"key", "title"}}
_NAME = re.compile(r"[^A-Za-z0-9_.@+:-]")
_WORKSPACE_ID = re.compile(r"[0-9a-f]{32}")
_PROVIDERS: Mapping[str, str] = {"openai_codex": "openai-codex", "github_copilot": "github-copilot", "x_ai": "xai"}
_REASONS: Mapping[str, str] = {
    "tools": "what tools may do is never taken over; see `hob policy`",
    "gateway": "Hob's own gateway has settings of its own; see `hob config show`",
    "audio": "see `hob config show` for model.speech and model.transcription",
}
_TAKEN = ("agents.defaults", "providers", "channels")
_OF_AGENTS = frozenset({"workspace", "model", "provider", "reasoning_effort"})
_NO_CHANNEL = "the connection itself is not taken: Hob has no such channel yet"


def _places(environ: Mapping[str, str], home: Path) -> Sequence[Path]:
    return (home / ".nanobot",)


def _knows(folder: Path) -> bool:
    config = (folder / "config.json").is_file() and (folder.name == ".nanobot" or (folder / "workspace").is_dir())
    return config or (folder / "sessions").is_dir() or _is_workspace(folder)


def _is_workspace(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _IDENTITY)


def _read(source: SourceFolder) -> Contents:
    root, path = source.root, source.root / "config.json"
    if not _knows(root) and not path.is_file():
        raise Unreadable(
            translatable(
                "{root} is not a nanobot folder: there is neither config.json nor sessions/ nor AGENTS.md",
                root=str(root),
            )
        )
    left: list[SkippedItem] = []
    config: Object = _to_snake_case(read_config(path, root, left))
    workspace = _workspace(source, config, left)
    files, told = take_workspace(workspace, _LAYOUT) if workspace is not None else ([], [])
    owners = _owner_sessions(config) if source.owners else frozenset[str]()
    conversations: list[SourceConversation] = []
    for folder in dict.fromkeys(each / "sessions" for each in (root, workspace) if each is not None):
        conversations += _conversations(folder, source, owners, left)
    for folder, prefix in _workspace_folders(root / "sessions", workspace, left):
        conversations += _conversations(folder, source, owners, left, prefix)
    if (root / "cron").exists():
        left.append(SkippedItem(str(root / "cron"), translatable("Hob has no scheduled jobs yet")))
    mapping = _settings(config, source)
    return Contents(tuple(files), tuple(conversations), mapping.settings, mapping.keys, (*left, *told, *mapping.left))


def _to_snake_case(value: Any, depth: int = 0) -> Any:
    """Return the value with all names in snake_case."""
    if not isinstance(value, Mapping) or depth > 3:
        return value
    names = {key: re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", str(key)).lower() for key in value}
    return {names[key]: _to_snake_case(each, depth + 1) for key, each in value.items()}


def _workspace(source: SourceFolder, config: Object, left: list[SkippedItem]) -> Path | None:
    root = source.root
    if _is_workspace(root):
        return root
    found = find_named_folder(object_at(config, "agents", "defaults").get("workspace"))
    if found is not None and (source.owners or found.is_relative_to(root)):
        return found
    if (root / "workspace").is_dir() and not (root / "workspace").is_symlink():
        return root / "workspace"
    left.append(
        SkippedItem("the workspace", translatable("there is none in this folder; its own folder as PATH is taken, too"))
    )
    return None


def _owner_sessions(config: Object) -> frozenset[str]:
    """Return the sessions with the owner: the terminal's, and chats in which only one person may write."""
    found = {"cli:direct"}
    for name, channel in object_at(config, "channels").items():
        allowed = inner(channel, "allow_from")
        if isinstance(allowed, list) and len(allowed) == 1 and str(allowed[0]).strip("*"):
            found.add(f"{name}:{str(allowed[0]).partition('|')[0]}")
    return frozenset(found)


# Sessions


def _workspace_folders(sessions: Path, workspace: Path | None, left: list[SkippedItem]) -> Iterator[tuple[Path, str]]:
    """Yield each workspace's folder with a prefix for its sessions, empty for the imported workspace."""
    if not sessions.is_dir() or sessions.resolve() != sessions:
        return
    found = [path for path in sorted(sessions.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    known = [path for path in found if _WORKSPACE_ID.fullmatch(path.name) and not path.is_symlink()]
    own = known[0].name if len(known) == 1 else ""
    if workspace is not None:
        with suppress(Unreadable):  # without a mark, a single folder belongs to the workspace
            own = read_bytes(workspace / ".nanobot" / "workspace-id", workspace, 100).decode("ascii", "replace").strip()
    for path in found:
        if path in known:
            yield path, "" if path.name == own else f"{path.name[:8]}/"
        else:
            left.append(SkippedItem(str(path), translatable("it is not a folder of conversations")))


def _conversations(
    folder: Path, source: SourceFolder, owners: frozenset[str], left: list[SkippedItem], prefix: str = ""
) -> Iterator[SourceConversation]:
    for path in transcripts(folder, left):
        key = _key_of(path, folder)
        status = path.stat()
        read = partial(read_session_file, path, folder, status.st_mtime, owner=key in owners)
        yield SourceConversation(_session_name(prefix, key), str(path), read, size=status.st_size)
    database = folder / _DATABASE
    if database.exists():
        yield from _database_conversations(database, source, owners, left, prefix)


def _session_name(prefix: str, key: str) -> str:
    return f"nanobot:{prefix}{_NAME.sub('_', key)[:200]}"


def _key_of(path: Path, root: Path) -> str:
    """Return the session key from the first line, else from the file name: base64, or `telegram_1` for `telegram:1`."""
    try:
        first = parse(next(read_lines(path, root), None) or b"") or {}
    except Unreadable:
        first = {}
    key = first.get("key") if first.get("_type") == "metadata" else None
    return text_of(key, 200) or _decode_key(path.stem) or path.stem.replace("_", ":", 1)


def _decode_key(stem: str) -> str:
    """Return the key that a name encodes in base64, or an empty text."""
    try:
        key = urlsafe_b64decode(stem + "=" * (-len(stem) % 4)).decode()
    except (NotBase64, ValueError):
        return ""
    return text_of(key, 200) if ":" in key and key.isprintable() else ""


def read_session_file(path: Path, root: Path, since: float, *, owner: bool) -> Iterator[PastMessage | SkippedPart]:
    """Yield the messages of a session's file; `since` is the time of those without one. KafClaw has the same format."""
    entries = (None if line is None else parse(line) for line in read_lines(path, root))
    yield from _read_entries(entries, since, owner=owner)


def _database_conversations(
    path: Path, source: SourceFolder, owners: frozenset[str], left: list[SkippedItem], prefix: str
) -> Iterator[SourceConversation]:
    try:
        file, rows = open_listing(path, source, _TABLES, "sessions", ("key", "title"), "nanobot")
    except Unreadable as error:
        left.append(SkippedItem(str(path), str(error)))
        return
    since = path.stat().st_mtime
    for key, title in rows:
        read = partial(_read_rows, file, str(key), since, owner=str(key) in owners)
        yield SourceConversation(
            _session_name(prefix, str(key)), f"{path}: {text_of(key, 200)}", read, text_of(title, 200)
        )


def _read_rows(file: ForeignFile, key: str, since: float, *, owner: bool) -> Iterator[PastMessage | SkippedPart]:
    rows = file.rows("messages", ("record",), "position", (("session_key", key),))
    yield from _read_entries(
        (parse(text) if isinstance(text, str | bytes) else None for (text,) in rows), since, owner=owner
    )


def _read_entries(
    entries: Iterable[Object | None], since: float, *, owner: bool
) -> Iterator[PastMessage | SkippedPart]:
    at = since
    moment: object = None
    roles: Counter[str] = Counter()
    for n, entry in enumerate(entries):
        if entry is None:
            yield SkippedPart("lines that cannot be read")
            continue
        if "_type" in entry:
            continue
        role, stamp = text_of(entry.get("role"), 40), entry.get("timestamp")
        at = time_of(stamp) or at
        if stamp != moment:
            moment = stamp
            roles.clear()
        # messages have no ids, so the key is made of role, time and count
        nth = roles[role] = roles[role] + 1
        timed = isinstance(stamp, str) and len(stamp) <= 40 and stamp.isprintable()
        key = f"{role} {stamp} {nth}" if timed else f"line:{n}"
        yield _message(key, entry, at, owner=owner)


def _message(key: str, entry: Object, at: float, *, owner: bool) -> PastMessage | SkippedPart:
    text = _text(entry.get("content"))
    match entry.get("role"):
        case "user":
            said = PastMessage(key, "user", text, at, owner)
        case "assistant":
            said = PastMessage(key, "assistant", text, at, calls=tuple(_calls(entry.get("tool_calls"))))
        case "tool":
            return PastMessage(key, "tool", text, at, call=text_of(entry.get("tool_call_id"), 200))
        case _:
            return SkippedPart("messages of another kind")
    return said if said.text or said.calls else SkippedPart("messages without a word")


def _text(content: object) -> str:
    if isinstance(content, list):
        pieces = (text_of(inner(part, "text")) or f"[{text_of(inner(part, 'type'), 40)}]" for part in content)
        return text_of("\n".join(pieces))
    return text_of(content)


def _calls(calls: object) -> Iterator[PastCall]:
    for call in calls[:MAX_CALLS] if isinstance(calls, list) else ():
        name, arguments = inner(call, "function", "name"), inner(call, "function", "arguments")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        yield PastCall(text_of(inner(call, "id"), 200), text_of(name, 200), text_of(written, MAX_ARGUMENTS))


# Settings


def _settings(config: Object, source: SourceFolder) -> SettingMapping:
    mapping = SettingMapping(source.environ, source.owners)
    providers = object_at(config, "providers")
    for name, provider in providers.items():
        key, address = inner(provider, "api_key"), inner(provider, "api_base")
        if not key and not address:
            continue
        id = _PROVIDERS.get(name, name)
        mapping.provider(id, f"providers.{name}", base_url=address, wire=usual_wire(name), key=key)
        if inner(provider, "extra_headers"):
            mapping.leave(f"providers.{name}.extraHeaders", "a header may be a secret; set it yourself")
    defaults = object_at(config, "agents", "defaults")
    mapping.model(_reference(defaults, providers), "agents.defaults.model")
    mapping.thinking(defaults.get("reasoning_effort"), "agents.defaults.reasoningEffort")
    mapping.leave_others(defaults, _OF_AGENTS, "config.json: agents.defaults")
    for name, channel in object_at(config, "channels").items():
        if isinstance(channel, Mapping) and (channel.get("enabled") or channel.get("allow_from")):
            mapping.allow(name, channel.get("allow_from"), f"channels.{name}.allowFrom")
            mapping.groups(name, channel.get("group_allow_from"), f"channels.{name}.groupAllowFrom")
            mapping.policy(name, "group_policy", channel.get("group_policy"), f"channels.{name}.groupPolicy")
            mapping.leave(f"channels.{name}", _NO_CHANNEL)
        elif not isinstance(channel, Mapping):
            mapping.leave(f"config.json: channels.{name}", "Hob has settings of its own for what channels show")
    mapping.finish()
    leave_rest(mapping, config, _TAKEN, _REASONS, "config.json")
    return mapping


def _reference(defaults: Object, providers: Object) -> str | None:
    """Return the model with its provider in nanobot: the named one, its own, or a gateway with a key."""
    model, named = defaults.get("model"), defaults.get("provider")
    if not isinstance(model, str) or not model:
        return None
    if isinstance(named, str) and named not in ("", "auto"):
        return model if model.startswith(f"{named}/") else f"{_PROVIDERS.get(named, named)}/{model}"
    own = model.partition("/")[0].replace("-", "_")
    if "/" in model and inner(providers, own, "api_key"):
        return model
    gateway = next((each for each in ("openrouter", "custom", "vllm") if inner(providers, each, "api_key")), None)
    return f"{gateway}/{model}" if gateway and not model.startswith(f"{gateway}/") else model


ASSISTANT = Assistant("nanobot", "nanobot", _places, _knows, _read)
