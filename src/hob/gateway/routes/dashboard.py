"""What commands need of the dashboard; reached through the socket alone."""

from typing import Any

from starlette.responses import Response

from hob.core.errors import NotFound
from hob.gateway.auth.callers import WITH_THE_TOKEN, TokenScope
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import json_response


async def link(call: EndpointCall[Nothing]) -> Response:
    """A link that signs one browser in as the owner, once, within five minutes."""
    api = call.api
    if not api.dashboard:
        raise NotFound("the dashboard does not listen here: see dashboard.port and gateway.port")
    code = api.login_codes.issue(WITH_THE_TOKEN, api.clock.monotonic)
    # behind the # it is sent to no server, and stands in no log
    return json_response({"address": api.dashboard, "url": f"{api.dashboard}/#login={code}"})


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("POST", "/dashboard/link", link, TokenScope.ADMIN, Nothing, errors=("not_found",), local=True),
)
