"""History that comes from elsewhere; reached through the socket alone."""

from starlette.responses import Response

from hob.gateway.endpoint import Call
from hob.gateway.imports import Importing
from hob.gateway.imports import take_over as take_over_here
from hob.gateway.reply import json_response


async def take_over(call: Call[Importing]) -> Response:
    """Keep past messages of another assistant, each once: nothing is answered, run or sent."""
    return json_response(await take_over_here(call.api.store, call.asked))
