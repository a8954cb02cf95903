"""Imported history, over the Unix socket only."""

from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.imports import MAX_BYTES, ImportedMessagesAnswer, ImportRequest
from hob.gateway.imports import take_over as take_over_here


async def take_over(call: EndpointCall[ImportRequest]) -> JsonResponse[ImportedMessagesAnswer]:
    """Add past messages of another assistant, each once: nothing is answered, run or sent."""
    return json_response(await take_over_here(call.api.store, call.payload))


ENDPOINTS = (
    Endpoint(
        "POST",
        "/import",
        take_over,
        TokenScope.ADMIN,
        ImportRequest,
        max_bytes=MAX_BYTES,
        local=True,
    ),
)
