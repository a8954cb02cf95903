"""`POST /hooks/NAME`: incoming webhooks."""

import logging
from typing import TypedDict

from hob.core.events.tracing import CONTENT_FREE
from hob.core.ids import OutboxId
from hob.core.messages import WEBHOOK_OUT_CHANNEL
from hob.gateway.auth.visitors import SocketOwner, Visitor
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.failures import BUSY, HttpRefusal
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.webhooks.receiver import Delivery, WebhookReceiver, inbound_of
from hob.gateway.webhooks.schemes import SignatureInvalid

_UNPROVEN = "no webhook of Hob's is signed like this: secret and scheme have to be the same on both sides"

log = logging.getLogger(__name__)


class DeliveryAnswer(TypedDict):
    """An accepted delivery of a webhook.

    id: the message it became, for `GET /chat/{id}`; null if Hob itself had sent it
    state: `accepted`, `duplicate` of an earlier delivery with this id, or Hob's `own`
    """

    id: str | None
    state: str


async def post(call: EndpointCall[bytes]) -> JsonResponse[DeliveryAnswer]:
    """Accept a delivery for the webhook of this name, signed as its settings say; no token of Hob's is needed.

    202: it is stored and will be processed. 200: it repeats an earlier one, whose id is returned, or Hob itself had
    sent it. A wrong signature gets the same answer as an unknown webhook.
    """
    api, receiver, name = call.api, call.api.port(WebhookReceiver), str(call.request.path_params["name"])
    id = _authenticate(call, name)
    delivery = receiver.read(name, id, call.request.headers, call.payload)
    if await _is_own(call, delivery):
        log.warning("webhook %s: this came from Hob itself and is left alone", name)
        return json_response({"id": None, "state": "own"})
    inbound = inbound_of(delivery, api.clock)
    known = await api.store.inbox.find_key(inbound.origin.channel, inbound.origin.account, inbound.key)
    # duplicates do not count: a replayed delivery must not use up the limit of the others
    if known is not None:
        return json_response({"id": known.id, "state": "duplicate"})
    receiver.count(name, api.clock)
    accepted = await api.accept(inbound)
    if accepted.duplicate:  # both arrived at once
        return json_response({"id": accepted.id, "state": "duplicate"})
    return json_response({"id": accepted.id, "state": "accepted"}, 202)


def _authenticate(call: EndpointCall[bytes], name: str) -> str:
    """Return the id that the signature covers, if any. Raises HttpRefusal, identical for every reason."""
    visitor: Visitor | SocketOwner = call.request.scope["visitor"]
    receiver = call.api.port(WebhookReceiver)
    try:
        with visitor.trying():
            return receiver.proven(name, call.request.headers, call.payload, call.api.clock.now().timestamp())
    except SignatureInvalid as wrong:
        if name in receiver.webhooks:
            log.warning("webhook %s: a delivery is refused: %s", name, wrong, extra=CONTENT_FREE)
        raise HttpRefusal("unauthorized", _UNPROVEN) from wrong


async def _is_own(call: EndpointCall[bytes], delivery: Delivery) -> bool:
    for id in delivery.claimed:
        row = await call.api.store.outbox.find(OutboxId(id)) if len(id) <= 255 else None
        if row is not None and row.outbound.to.channel == WEBHOOK_OUT_CHANNEL:
            return True
    return False


ENDPOINTS = (
    Endpoint(
        "POST",
        "/hooks/{name}",
        post,
        None,
        bytes,
        errors=(*BUSY, "not_allowed", "stopping", "unauthorized", "too_many_attempts"),
        statuses=(200, 202),
    ),
)
