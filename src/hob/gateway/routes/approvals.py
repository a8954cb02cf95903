"""What the owner is asked, and the owner's answers. Whoever may answer speaks as the owner."""

from dataclasses import dataclass

from starlette.responses import Response

from hob.gateway.approvals import approval_view, approvals_view, grants_view, settled_view
from hob.gateway.endpoint import Call
from hob.gateway.fields import Nothing, field
from hob.gateway.reply import json_response


@dataclass(frozen=True, slots=True)
class Settling:
    """An answer to a question for leave."""

    allowed: bool = field("whether it may be done")
    scope: str = field("how far the leave reaches: one of the question's `scopes`", "once")


async def approvals(call: Call[Nothing]) -> Response:
    """The questions that stand, oldest first."""
    return json_response(await approvals_view(call.api.store, call.api.leaves()))


async def approval(call: Call[Nothing]) -> Response:
    """One question, answered or not, with everything that would be done."""
    leaves = call.api.leaves()
    found = await leaves.find(call.id)
    return json_response(await approval_view(call.api.store, found, leaves.scopes(found)))


async def settle(call: Call[Settling]) -> Response:
    """Answer: `{"allowed": true}`, with `"scope": "session"` or `"always"` for more than this once; the turn goes on.

    The same answer again is 200 and changes nothing; another one is 403.
    """
    asked, by = call.asked, call.caller.by
    view = await settled_view(
        call.api.store, call.api.leaves(), call.id, allowed=asked.allowed, scope=asked.scope, by=by
    )
    return json_response(view)


async def grants(call: Call[Nothing]) -> Response:
    """The leaves that hold for more than once."""
    return json_response(await grants_view(call.api.leaves()))


async def revoke(call: Call[Nothing]) -> Response:
    """Take one of those back."""
    await call.api.leaves().revoke(call.id)
    return json_response({"id": call.id})
