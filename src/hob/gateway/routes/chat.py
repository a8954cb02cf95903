"""POST /chat and GET /chat/{id}: a message in, its answer out, also after a crash."""

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey, new_inbound_id, new_trace_id
from hob.core.labels import OWNER_LABEL, Label, Origin, Trust
from hob.core.messages import Address, Inbound, Quoted, Sender
from hob.gateway.api import Api
from hob.gateway.following import Event, follow, outcome
from hob.gateway.reply import api_of, json_response
from hob.gateway.views import chat_status, find_chat

FIELDS = frozenset({"message", "session", "model", "quoted", "channel", "wait"})
CHANNELS = frozenset({"api", "local"})
"""Who is speaking: a program, or a person at this machine's terminal."""


async def post(request: Request) -> Response:
    """Accept a message and wait for its outcome; with `Accept: text/event-stream`, show it while it grows.

    A repeated `Idempotency-Key` joins the earlier message. 202 with `Location` says that it takes longer.
    """
    api = api_of(request)
    fields = await _read_fields(request)
    inbound = _inbound(fields, request.headers.get("idempotency-key"), api)
    wait = min(api.settings.wait_seconds, float(fields["wait"])) if "wait" in fields else api.settings.wait_seconds
    if "text/event-stream" in request.headers.get("accept", ""):
        return StreamingResponse(_event_stream(follow(api, inbound, wait)), media_type="text/event-stream")
    accepted = await api.accept(inbound)
    view = await outcome(api, accepted, wait)
    status = chat_status(view)
    headers = {"location": f"/chat/{accepted.id}"} if status == 202 else None
    return json_response(view, status, headers)


async def get(request: Request) -> Response:
    """What became of a message, whoever asks and however often Hob was restarted since."""
    view = await find_chat(api_of(request).store, request.path_params["id"])
    if view is None:
        raise NotFound("no message has this id")
    return json_response(view)


async def _read_fields(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = dict(request.query_params)
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > api_of(request).settings.body_bytes:
            raise InvalidRequest("the body is too large; see gateway.body_bytes")
    if body.strip():
        try:
            posted = json.loads(body)
        except ValueError as error:
            raise InvalidRequest(f"the body is not JSON: {error}") from error
        if not isinstance(posted, dict):
            raise InvalidRequest('the body must be an object such as {"message": "hello"}')
        fields |= {key: value for key, value in posted.items() if value is not None}
    unknown = sorted(fields.keys() - FIELDS)
    if unknown:
        raise InvalidRequest(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(FIELDS))}")
    for key, value in fields.items():
        if key == "wait":
            _read_wait(value)
        elif not isinstance(value, str):
            raise InvalidRequest(f"{key} must be a string")
    if not fields.get("message", "").strip():
        raise InvalidRequest("message is missing or empty")
    return fields


def _read_wait(value: object) -> None:
    try:
        seconds = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidRequest("wait must be a number of seconds, 0 or more")


def _inbound(fields: dict[str, Any], key: str | None, api: Api) -> Inbound:
    channel = fields.get("channel", "api")
    if channel not in CHANNELS:
        raise InvalidRequest(f"channel must be one of {', '.join(sorted(CHANNELS))}")
    if key is not None and not 1 <= len(key) <= 255:
        raise InvalidRequest("Idempotency-Key must have 1 to 255 characters")
    session = fields.get("session")
    if session is not None and not (1 <= len(session) <= 200 and session.isprintable()):
        raise InvalidRequest("session must have 1 to 200 printable characters")
    id = new_inbound_id()
    quoted = fields.get("quoted")
    return Inbound(
        id=id,
        key=key or id,
        origin=Address(channel=channel, chat="main"),
        sender=Sender(id="owner"),
        text=fields["message"],
        label=OWNER_LABEL,
        trace=new_trace_id(),
        quoted=(Quoted(quoted, Label(Origin.STDIN, Trust.UNTRUSTED)),) if quoted else (),
        session=SessionKey(session) if session else None,
        model=fields.get("model"),
        sent_at=api.clock.now(),
    )


async def _event_stream(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    async for event in events:
        text = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
        yield f"event: {event.name}\ndata: {text}\n\n".encode()
