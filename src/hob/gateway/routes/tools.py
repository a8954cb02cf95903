"""The tools, for their owner."""

from collections.abc import Sequence
from typing import TypedDict

from hob.core.values import dataclass
from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.tools import ToolAnswer, ToolCatalog, ToolTriedAnswer, WholeToolAnswer


class ToolsAnswer(TypedDict):
    """Tools."""

    tools: Sequence[ToolAnswer]


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """A call made by the owner."""

    arguments: str = field("its arguments as JSON, or the most important one as it is", "")
    confirmed: bool = field("make the call even if the policy asks the owner first", False)


async def all_tools(call: EndpointCall[Nothing]) -> JsonResponse[ToolsAnswer]:
    """List every tool that sessions can open, the always-shown ones first."""
    return json_response({"tools": call.api.port(ToolCatalog).all()})


async def one_tool(call: EndpointCall[Nothing]) -> JsonResponse[WholeToolAnswer]:
    """Describe one tool, as models and the guard see it."""
    return json_response(call.api.port(ToolCatalog).one(call.id))


async def try_tool(call: EndpointCall[ToolTrial]) -> JsonResponse[ToolTriedAnswer]:
    """Make one call, judged by the policy as if the owner had asked for it. Return decision and result."""
    payload = call.payload
    found = await call.api.port(ToolCatalog).test(call.id, payload.arguments, confirmed=payload.confirmed)
    return json_response(found)


ENDPOINTS = (
    Endpoint("GET", "/tools", all_tools, TokenScope.READ, Nothing),
    Endpoint("GET", "/tools/{id}", one_tool, TokenScope.READ, Nothing, errors=("not_found",)),
    Endpoint("POST", "/tools/{id}/test", try_tool, TokenScope.ADMIN, ToolTrial,
             errors=("not_found", "invalid_request"), local=True),
)  # fmt: skip
