"""Unpacked data exports of ChatGPT and Claude on the web.

Both have `conversations.json` (large exports of ChatGPT: `conversations-000.json` and so on): a list of conversations.
ChatGPT's are trees of messages (`mapping`), whose branch ending at `current_node` was shown last; Claude's are lists
(`chat_messages`). Neither format is documented; these are the fields that existing readers agree on.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from hob.app.imports.contents import (
    Assistant,
    Contents,
    SkippedItem,
    SkippedPart,
    SourceConversation,
    SourceFolder,
)
from hob.app.imports.source_files import Object, Unreadable, inner, object_at, open_plain, text_of, time_of
from hob.core.models import Role
from hob.core.translation.language import translatable
from hob.gateway.imports import PastMessage

_PIECE = 1_000_000
_LONGEST = 256_000_000
"""Maximum characters of one conversation."""
_BROKEN = "surrogateescape"
"""Keeps bytes that are no UTF-8, so that places in the file stay exact."""
_BETWEEN = re.compile(r"[\s,]*")
_FILES = re.compile(r"conversations(-\d+)?\.json")
_ROLES: Mapping[str, Role] = {"user": "user", "human": "user", "assistant": "assistant"}
_CHATGPT, _CLAUDE = "mapping", "chat_messages"

ReadMessages = Callable[[Object, bool], Iterator[PastMessage | SkippedPart]]


def _no_places(environ: Mapping[str, str], home: Path) -> Sequence[Path]:
    return ()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("conversations*.json") if _FILES.fullmatch(path.name))


def _knows(field: str, folder: Path) -> bool:
    try:
        return any(field in first for path in _files(folder) for _, _, first in _elements(path, folder, 1))
    except Unreadable:
        return False


def _read(id: str, title: str, field: str, messages: ReadMessages, source: SourceFolder) -> Contents:
    root = source.root
    if not _knows(field, root):
        raise Unreadable(
            translatable(
                "{root} is not an export of {title}: it has no conversations.json with `{field}`",
                root=str(root),
                title=title,
                field=field,
            )
        )
    conversations: list[SourceConversation] = []
    left: list[SkippedItem] = []
    for path in _files(root):
        try:
            for offset, size, found in _elements(path, root):
                key = text_of(found.get("conversation_id") or found.get("uuid") or found.get("id"), 100)
                if not key or field not in found:
                    left.append(
                        SkippedItem(f"{path}, byte {offset:,}", translatable("it is not a conversation that Hob knows"))
                    )
                    continue
                name = text_of(found.get("title") or found.get("name"), 200)
                read = partial(_read_one, path, root, offset, size, messages, owner=source.owners)
                conversations.append(
                    SourceConversation(f"{id}:{_safe_name(key)}", f"{path.name}: {name}", read, name, size)
                )
        except Unreadable as error:
            left.append(SkippedItem(str(path), str(error)))
    others = sorted(path.name for path in root.iterdir() if not _FILES.fullmatch(path.name) and path.name.isprintable())
    if others:
        left.append(
            SkippedItem(
                ", ".join(others[:12]), translatable("only conversations are taken; `hob memory add` reads documents")
            )
        )
    return Contents(conversations=tuple(conversations), left=tuple(left))


def _safe_name(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", key)


def _elements(path: Path, root: Path, maximum: int = 0) -> Iterator[tuple[int, int, Object]]:
    """Yield the objects of a file that is one list, each with its byte offset and size. Raises Unreadable."""
    decoder, count = json.JSONDecoder(), 0
    with os.fdopen(open_plain(path, root), encoding="utf-8", errors=_BROKEN, newline="") as file:
        text, at, place = file.read(_PIECE), 0, 0
        if not text.lstrip("\ufeff \t\r\n").startswith("["):
            raise Unreadable(translatable("it is not a list of conversations"))
        end = text.index("[") + 1
        while True:
            try:
                begun = _skip_commas(text, end)
                if text.startswith("]", begun):
                    return
                found, end_of_it = decoder.raw_decode(text, begun)
            except ValueError:
                # doubled each time, so that long conversations are read in linear time
                more = file.read(max(_PIECE, len(text)))
                if not more or len(text) > _LONGEST:
                    raise Unreadable(translatable("it ends within a conversation, or one is too long")) from None
                at += _size(text[place:end])
                text, place, end = text[end:] + more, 0, 0
                continue
            except RecursionError:
                raise Unreadable(translatable("it is nested too deeply")) from None
            at += _size(text[place:begun])
            size = _size(text[begun:end_of_it])
            if isinstance(found, dict):
                yield at, size, found
                count += 1
                if count == maximum:
                    return
            at, place, end = at + size, end_of_it, end_of_it


def _size(text: str) -> int:
    return len(text.encode("utf-8", _BROKEN))


def _skip_commas(text: str, place: int) -> int:
    found = _BETWEEN.match(text, place)
    return found.end() if found else place


def _read_one(
    path: Path, root: Path, offset: int, size: int, read: ReadMessages, *, owner: bool
) -> Iterator[PastMessage | SkippedPart]:
    with os.fdopen(open_plain(path, root), "rb") as file:
        file.seek(offset)
        data = file.read(size)
    try:
        found = json.loads(data.decode("utf-8", _BROKEN))
    except ValueError:
        raise Unreadable(translatable("the file changed meanwhile; do it again")) from None
    yield from read(found, owner)


def _chatgpt_messages(conversation: Object, owner: bool) -> Iterator[PastMessage | SkippedPart]:
    nodes, node, branch = object_at(conversation, "mapping"), conversation.get("current_node"), list[Object]()
    seen: set[object] = set()
    while isinstance(node, str) and node in nodes and node not in seen:
        seen.add(node)
        branch.append(object_at(nodes, node))
        node = inner(nodes, node, "parent")
    at = time_of(conversation.get("create_time")) or 0.0
    for each in reversed(branch):
        message = object_at(each, "message")
        at = time_of(message.get("create_time")) or at
        role = inner(message, "author", "role")
        if not message or role == "system" or inner(message, "metadata", "is_visually_hidden_from_conversation"):
            continue
        if role not in _ROLES:
            yield SkippedPart("results of tools")
            continue
        yield _message(text_of(message.get("id"), 200), role, _parts(message.get("content")), at, owner)


def _parts(content: object) -> str:
    parts = inner(content, "parts")
    texts = [each for each in parts if isinstance(each, str)] if isinstance(parts, list) else []
    return text_of("\n".join(texts))


def _claude_messages(conversation: Object, owner: bool) -> Iterator[PastMessage | SkippedPart]:
    at = time_of(conversation.get("created_at")) or 0.0
    messages = conversation.get("chat_messages")
    for message in messages if isinstance(messages, list) else ():
        at = time_of(inner(message, "created_at")) or at
        role = inner(message, "sender")
        if role not in _ROLES:
            yield SkippedPart("messages of another kind")
            continue
        text = text_of(inner(message, "text")) or _blocks(inner(message, "content"))
        yield _message(text_of(inner(message, "uuid"), 200), role, text, at, owner)


def _blocks(content: object) -> str:
    texts = (text_of(inner(each, "text")) for each in content) if isinstance(content, list) else ()
    return text_of("\n".join(filter(None, texts)))


def _message(key: str, role: str, text: str, at: float, owner: bool) -> PastMessage | SkippedPart:
    if not key:
        return SkippedPart("messages without an id")
    if not text.strip():
        return SkippedPart("messages without a word")
    said = _ROLES[role]
    return PastMessage(key, said, text, at, owner and said == "user")


def _export(id: str, title: str, field: str, read: ReadMessages) -> Assistant:
    return Assistant(id, title, _no_places, partial(_knows, field), partial(_read, id, title, field, read))


CHATGPT = _export("chatgpt", "ChatGPT", _CHATGPT, _chatgpt_messages)
CLAUDE = _export("claude", "Claude", _CLAUDE, _claude_messages)
