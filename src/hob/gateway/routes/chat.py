"""`POST /chat` and `GET /chat/{id}`: a message and its answer, also after a crash, and how long a caller waits."""

import json
from collections.abc import AsyncIterator

from starlette.background import BackgroundTask
from starlette.responses import Response, StreamingResponse

from hob.core.ids import InboundId
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.auth.visitors import SocketOwner
from hob.gateway.chat.inbound import ChatRequest, ClientEvent
from hob.gateway.chat.outcome import (
    accept,
    find_accepted,
    find_message,
    find_own,
    follow,
    follow_again,
    mark_fetched,
    outcome,
)
from hob.gateway.chat.receive import receive
from hob.gateway.http.endpoint import EVENTS, JSON, EndpointCall
from hob.gateway.http.fields import field
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.routes.views import FINAL, ChatAnswer, chat_status

DEPRECATED = {"deprecation": "@1795305600"}
"""When messages in the URL became deprecated (RFC 9745): URLs end up in the logs of proxies."""


@dataclass(frozen=True, slots=True)
class WaitQuery:
    """How long to wait."""

    wait: float = field("how long to wait for the end, or for the next question", 0.0, at_least=0, unit="seconds")


async def post(call: EndpointCall[ChatRequest]) -> JsonResponse[ChatAnswer] | Response:
    """Accept a message and wait for its outcome; with `Accept: text/event-stream`, stream it.

    A repeated `Idempotency-Key` joins the earlier message. 202 with `Location` means that the message takes longer, or
    waits for an answer to its `question`.
    """
    api, payload = call.api, call.payload
    inbound = await receive(api, payload, call.header("idempotency-key"), call.caller)
    maximum = api.settings.wait_seconds
    wait = maximum if payload.wait is None else min(maximum, payload.wait)
    if call.wants(EVENTS):
        return StreamingResponse(_event_stream(follow(api, inbound, wait)), media_type=EVENTS)
    accepted = await accept(api, inbound)
    fresh = accepted.queued and not inbound.attachments  # nothing was awaited since it was accepted
    view = await outcome(api, accepted, wait, fresh=fresh)
    return _respond_deprecated(call, view) if call.request.query_params else _respond(api, view)


async def get(call: EndpointCall[WaitQuery]) -> JsonResponse[ChatAnswer] | Response:
    """Return the outcome of a message; every caller gets the same, also after restarts.

    `?wait=SECONDS` waits for its end, or for the next question; `Accept: text/event-stream` follows it from here on.
    The status is that of `POST /chat`: 202 with `Location` until it is settled.
    """
    api, id = call.api, InboundId(call.id)
    if call.caller.cls is not SenderClass.OWNER:
        await find_own(api, id, call.caller)
    if isinstance(call.request.scope["visitor"], SocketOwner):
        await find_accepted(api, id)  # commands translate the error of an answer, not of an event
    if call.wants(EVENTS):
        return StreamingResponse(_event_stream(follow_again(api, id, api.settings.wait_seconds)), media_type=EVENTS)
    accepted, view = await find_message(api, id)
    if view["state"] not in FINAL:
        view = await outcome(api, accepted, min(api.settings.wait_seconds, call.payload.wait), known=True)
    return _respond(api, view)


def _respond_deprecated(call: EndpointCall[ChatRequest], view: ChatAnswer) -> Response:
    """Return the answer to a message in the URL: plain text, as such clients expect, unless they ask for JSON."""
    told: Response = _respond(call.api, view)
    if told.status_code == 200 and view["reply"] is not None and not call.wants(JSON):
        told = Response(view["reply"], media_type="text/plain", background=told.background)
    told.headers.update(DEPRECATED)
    return told


def _respond(api: Api, view: ChatAnswer) -> JsonResponse[ChatAnswer]:
    """Return the view as an answer; an outcome counts as fetched once it was sent."""
    status, id = chat_status(view), InboundId(view["id"])
    if status == 202:  # it may end before this is sent, unseen
        return json_response(view, status, {"location": f"/chat/{id}"})
    return json_response(view, status, after=BackgroundTask(mark_fetched, api, id))


async def _event_stream(events: AsyncIterator[ClientEvent]) -> AsyncIterator[bytes]:
    async for event in events:
        text = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
        yield f"event: {event.name}\ndata: {text}\n\n".encode()
