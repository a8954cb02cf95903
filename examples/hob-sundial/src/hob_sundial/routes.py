"""The endpoint."""

from hob.plugin.http import Endpoint, EndpointCall, Nothing, Response, TokenScope, json_response


async def show(call: EndpointCall[Nothing]) -> Response:
    """Return the hour by the clock of this machine."""
    return json_response({"hour": call.api.clock.now().hour})


API_V1 = (Endpoint("GET", "/api/v1/sundial", show, TokenScope.READ, Nothing),)
ENDPOINTS = (Endpoint("GET", "/sundial", show, TokenScope.READ, Nothing),)
