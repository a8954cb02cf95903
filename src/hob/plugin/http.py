"""Types for endpoints."""

from starlette.responses import Response

from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import json_response

__all__ = ["Endpoint", "EndpointCall", "Nothing", "Response", "TokenScope", "field", "json_response"]
