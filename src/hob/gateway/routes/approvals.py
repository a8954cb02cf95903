"""What the owner is asked, and the owner's answers. Anyone who may answer speaks as the owner."""

from typing import TypedDict

from hob.core.values import dataclass
from hob.gateway.approvals import (
    ApprovalAnswer,
    ApprovalsAnswer,
    GrantsAnswer,
    SettledAnswer,
    approval_view,
    approvals_view,
    grants_view,
    settled_view,
)
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, json_response, requested_language


class IdAnswer(TypedDict):
    """Something by its id."""

    id: str


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """An answer to a question for approval."""

    allowed: bool = field("whether it may be done")
    scope: str = field("how far the approval reaches: one of the question's `scopes`", "once")


async def approvals(call: EndpointCall[Nothing]) -> JsonResponse[ApprovalsAnswer]:
    """The questions that stand, oldest first."""
    language = requested_language(call.request)
    return json_response(await approvals_view(call.api.store, call.api.pending_approvals(), language))


async def approval(call: EndpointCall[Nothing]) -> JsonResponse[ApprovalAnswer]:
    """One question, answered or not, with everything that would be done."""
    pending_approvals = call.api.pending_approvals()
    found = await pending_approvals.find(call.id)
    scopes = pending_approvals.scopes(found)
    return json_response(await approval_view(call.api.store, found, scopes, requested_language(call.request)))


async def settle(call: EndpointCall[ApprovalDecision]) -> JsonResponse[SettledAnswer]:
    """Answer: `{"allowed": true}`, with `"scope": "session"` or `"always"` for more than this once; the turn goes on.

    The same answer again is 200 and changes nothing; another one is 403.
    """
    payload, by = call.payload, call.caller.by
    view = await settled_view(
        call.api.store, call.api.pending_approvals(), call.id, allowed=payload.allowed, scope=payload.scope, by=by
    )
    return json_response(view)


async def grants(call: EndpointCall[Nothing]) -> JsonResponse[GrantsAnswer]:
    """The approvals that hold for more than once."""
    return json_response(await grants_view(call.api.pending_approvals()))


async def revoke(call: EndpointCall[Nothing]) -> JsonResponse[IdAnswer]:
    """Take one of those back."""
    await call.api.pending_approvals().revoke(call.id)
    return json_response({"id": call.id})
