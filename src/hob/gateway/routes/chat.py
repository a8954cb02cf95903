"""POST /chat and GET /chat/{id}: a message in, its answer out, also after a crash."""

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from hob.core.errors import InvalidRequest
from hob.core.ids import InboundId
from hob.gateway.events import Event
from hob.gateway.following import find_accepted, follow, follow_again, outcome, pick_up
from hob.gateway.inbound import owners_inbound, read_seconds
from hob.gateway.reply import api_of, json_response
from hob.gateway.views import chat_status

EVENTS = "text/event-stream"


async def post(request: Request) -> Response:
    """Accept a message and wait for its outcome; with `Accept: text/event-stream`, show it while it grows.

    A repeated `Idempotency-Key` joins the earlier message. 202 with `Location` says that it takes longer, or that it
    waits for an answer to its `question`.
    """
    api = api_of(request)
    fields = await _read_fields(request)
    inbound = owners_inbound(fields, request.headers.get("idempotency-key"), api.clock)
    wait = min(api.settings.wait_seconds, read_seconds(fields.get("wait", api.settings.wait_seconds)))
    if wants_events(request):
        return StreamingResponse(_event_stream(follow(api, inbound, wait)), media_type=EVENTS)
    accepted = await api.accept(inbound)
    view = await outcome(api, accepted, wait)
    status = chat_status(view)
    headers = {"location": f"/chat/{accepted.id}"} if status == 202 else None
    return json_response(view, status, headers, after=BackgroundTask(pick_up, api, accepted.id))


async def get(request: Request) -> Response:
    """What became of a message, whoever asks and however often Hob was restarted since.

    `?wait=SECONDS` waits for its end, or for the next question; `Accept: text/event-stream` shows the rest of it while
    it grows.
    """
    api = api_of(request)
    id = InboundId(request.path_params["id"])
    wait = min(api.settings.wait_seconds, read_seconds(request.query_params.get("wait", "0")))
    if wants_events(request):
        return StreamingResponse(_event_stream(follow_again(api, id, api.settings.wait_seconds)), media_type=EVENTS)
    view = await outcome(api, await find_accepted(api, id), wait, known=True)
    return json_response(view, after=BackgroundTask(pick_up, api, id))


async def _read_fields(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = dict(request.query_params)
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > api_of(request).settings.body_bytes:
                raise HTTPException(413, "the body is too large; see gateway.body_bytes")
    except ClientDisconnect as error:
        raise InvalidRequest("the body ended too early") from error
    if body.strip():
        try:
            posted = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InvalidRequest(f"the body is not JSON: {error}") from error
        if not isinstance(posted, dict):
            raise InvalidRequest('the body must be an object such as {"message": "hello"}')
        fields |= {key: value for key, value in posted.items() if value is not None}
    return fields


def wants_events(request: Request) -> bool:
    """Whether the caller wants to follow instead of to wait."""
    return EVENTS in request.headers.get("accept", "")


async def _event_stream(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    async for event in events:
        text = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
        yield f"event: {event.name}\ndata: {text}\n\n".encode()
