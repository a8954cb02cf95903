"""The exact request of each model call; parts shared between requests are stored once."""

import hashlib
import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from operator import is_not
from typing import Any, TypeAlias

import apsw

from hob.core.content.images import Image
from hob.core.errors import NotFound
from hob.core.ids import ONE_TURN_PREFIX, BlobId, CallId, SessionKey, TraceId, TurnId
from hob.core.models import (
    AssistantMessage,
    Continuation,
    ModelMessage,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import Row, all_rows, marks
from hob.store.erasure.content import learned, masked

_DAY = 86_400.0
_FIND = (
    "SELECT id, trace_id FROM turns WHERE id IN (SELECT :id UNION ALL SELECT turn FROM inbox WHERE id = :id"
    " UNION ALL SELECT turn FROM timeline WHERE trace_id = :id) ORDER BY seq DESC LIMIT 1"
)
_KNOWN = "SELECT hash, id, used FROM request_parts WHERE hash IN ({hashes})"
_TOUCH = "UPDATE request_parts SET used = ? WHERE id = ?"
_GONE = "SELECT min(at) FROM tombstones WHERE at >= (SELECT max(at) FROM steps WHERE turn = ?)"
_MAX_KNOWN = 256
_AT_ONCE = 16
"""Batch size of lookups, so that requests of any length use the same few statements."""
_PART = "INSERT INTO request_parts (hash, turn, used, body) VALUES (?, ?, ?, ?) RETURNING id"


Part: TypeAlias = str | tuple[ToolSpec, ...] | dict[str, Any] | ModelMessage


class PartHashes:
    """Hashes of recently stored parts, which need not be serialised and masked again."""

    def __init__(self) -> None:
        self._messages: dict[ModelMessage | str, bytes] = {}
        self._tools: tuple[ToolSpec, ...] = ()
        self._of_tools = b""
        self._learned = -1

    def find(self, connection: apsw.Connection, part: Part) -> bytes:
        """Return the part's hash as it would be stored now."""
        if (secrets := learned(connection)) != self._learned:
            self._messages.clear()
            self._tools, self._learned = (), secrets
        if isinstance(part, dict):
            return _hash(_body(connection, part))
        if isinstance(part, tuple):
            if not part or len(part) != len(self._tools) or any(map(is_not, part, self._tools)):
                self._tools, self._of_tools = part, _hash(_body(connection, part))
            return self._of_tools
        if (known := self._messages.get(part)) is None:
            if len(self._messages) >= _MAX_KNOWN:
                self._messages.clear()
            known = self._messages[part] = _hash(_body(connection, part))
        return known


def keep_request(
    connection: apsw.Connection,
    known_hashes: PartHashes,
    turn: TurnId,
    session: SessionKey,
    n: int,
    request: ModelRequest,
    at: float,
) -> None:
    """Store the request of this step's model call."""
    own = turn if session.startswith(ONE_TURN_PREFIX) else None
    parts = _parts(request)
    if own is None:
        hashes = [known_hashes.find(connection, part) for part in parts]
    else:
        hashes = [_hash(own.encode() + _body(connection, part)) for part in parts]
    known: dict[bytes, int] = {}
    for key, id, used in _known(connection, hashes):
        known[key] = id
        if used < at - _DAY:
            connection.execute(_TOUCH, (at, id))
    for key, part in zip(hashes, parts, strict=True):
        if key not in known:
            body = zlib.compress(_body(connection, part), 6)
            known[key] = all_rows(connection, _PART, (key, own, at, body))[0][0]
    places = json.dumps([known[key] for key in hashes], separators=(",", ":"))
    connection.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?)", (turn, n, at, places))


def _known(connection: apsw.Connection, hashes: list[bytes]) -> list[Row]:
    wanted = [*hashes, *hashes[-1:] * (-len(hashes) % _AT_ONCE)]
    return all_rows(connection, _KNOWN.format(hashes=marks(wanted)), wanted)


def drop_requests(connection: apsw.Connection, before: float | None = None) -> None:
    """Delete requests stored before this time (Unix seconds), or all."""
    if before is None:
        connection.execute("DELETE FROM requests")
        connection.execute("DELETE FROM request_parts")
    else:
        connection.execute("DELETE FROM requests WHERE at < ?", (before,))
        connection.execute("DELETE FROM request_parts WHERE used < ?", (before - _DAY,))


def drop_requests_of(connection: apsw.Connection, session: str) -> None:
    """Delete the requests of a one-turn session."""
    turns = "SELECT id FROM turns WHERE session = ?"
    for table in ("requests", "request_parts"):
        connection.execute(f"DELETE FROM {table} WHERE turn IN ({turns})", (session,))  # noqa: S608


class StoredRequests(StorePart):
    """The requests of turns."""

    async def turn(self, id: str) -> tuple[TurnId, TraceId]:
        """Return the turn with this id, message id or trace, and its trace. Raises NotFound."""
        row = await self._row(_FIND, {"id": id})
        if row is None:
            raise NotFound(translatable("no turn, message or trace is called {id}", id=id))
        return TurnId(row[0]), TraceId(row[1])

    @snapshot
    def load(self, connection: apsw.Connection, turn: TurnId, step: int | None = None) -> Mapping[int, ModelRequest]:
        """Return the stored requests of a turn by step number; of one step if given."""
        rows = all_rows(connection, "SELECT n, parts FROM requests WHERE turn = ? AND n = coalesce(?, n)", (turn, step))
        places = {n: json.loads(parts) for n, parts in rows}
        texts = _load_parts(connection, {part for parts in places.values() for part in parts})
        return {n: _request([texts[part] for part in parts]) for n, parts in places.items()}

    async def gone(self, turn: TurnId) -> float | None:
        """Return when requests of this turn were deleted by an erasure (Unix seconds), or None."""
        return await self._time(_GONE, (turn,))


def _load_parts(connection: apsw.Connection, wanted: Collection[int]) -> Mapping[int, str]:
    if not (ids := sorted(wanted)):
        return {}
    sql = f"SELECT id, body FROM request_parts WHERE id IN ({marks(ids)})"  # noqa: S608
    return {id: zlib.decompress(body).decode() for id, body in all_rows(connection, sql, ids)}


def _parts(request: ModelRequest) -> list[Part]:
    rest = {
        "model": request.model,
        "models": request.models,
        "max_tokens": request.max_tokens,
        "cache_key": request.cache_key,
        "thinking": request.thinking,
        "stays": request.local_only,
    }
    return [request.system, request.tools, rest, *request.messages]


def _body(connection: apsw.Connection, part: Part) -> bytes:
    """Return the part as it is stored, before compression."""
    match part:
        case str():
            text = part
        case tuple():
            text = _dump([[tool.name, tool.description, dict(tool.schema)] for tool in part])
        case dict():
            text = _dump(part)
        case _:
            text = _dump(_plain(part))
    return masked(connection, text).encode("utf-8", "replace")


def _hash(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _plain(message: ModelMessage) -> dict[str, Any]:
    match message:
        case UserMessage():
            images = [[image.blob, image.media_type] for image in message.images]
            return {"user": message.text, **({"images": images} if images else {})}
        case ToolMessage():
            return {"tool": message.call, "text": message.text, **({"error": True} if message.is_error else {})}
        case AssistantMessage(calls=calls, continuation=sealed):
            made = {"calls": [[call.id, call.name, call.arguments] for call in calls]} if calls else {}
            seal = {"seal": [sealed.wire, sealed.data, sealed.prefix, sealed.by]} if sealed is not None else {}
            return {"assistant": message.text, **made, **seal}


def _request(texts: Sequence[str]) -> ModelRequest:
    tools, rest, *messages = json.loads(f"[{','.join(texts[1:])}]")  # at once: each call of the parser costs as much
    key, thinking = rest["cache_key"], rest["thinking"]
    return ModelRequest(
        rest["model"],
        texts[0],
        tuple(map(_message, messages)),
        tuple(ToolSpec(name, description, schema) for name, description, schema in tools),
        rest["max_tokens"],
        None if key is None else SessionKey(key),
        models=tuple(rest["models"]),
        thinking=None if thinking is None else Thinking(thinking),
        local_only=rest["stays"],
    )


def _message(value: dict[str, Any]) -> ModelMessage:
    if "user" in value:
        return UserMessage(value["user"], tuple(Image(BlobId(blob), kind) for blob, kind in value.get("images", ())))
    if "tool" in value:
        return ToolMessage(CallId(value["tool"]), value["text"], value.get("error", False))
    calls = tuple(ToolCall(CallId(id), name, arguments) for id, name, arguments in value.get("calls", ()))
    seal = value.get("seal")
    return AssistantMessage(value["assistant"], calls, None if seal is None else Continuation(*seal))
