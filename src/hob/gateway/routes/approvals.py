"""The owner's questions for approval and their answers. Callers who may answer act as the owner."""

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
    """The id of a changed object."""

    id: str


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """An answer to a question for approval."""

    allowed: bool = field("whether to allow it")
    scope: str = field("the approval's scope: one of the question's `scopes`", "once")


async def approvals(call: EndpointCall[Nothing]) -> JsonResponse[ApprovalsAnswer]:
    """List the open questions, oldest first."""
    language = requested_language(call.request)
    return json_response(await approvals_view(call.api.store, call.api.pending_approvals(), language))


async def approval(call: EndpointCall[Nothing]) -> JsonResponse[ApprovalAnswer]:
    """Return one question, answered or not, with everything the call would do."""
    pending_approvals = call.api.pending_approvals()
    found = await pending_approvals.find(call.id)
    scopes = pending_approvals.scopes(found)
    return json_response(await approval_view(call.api.store, found, scopes, requested_language(call.request)))


async def settle(call: EndpointCall[ApprovalDecision]) -> JsonResponse[SettledAnswer]:
    """Answer: `{"allowed": true}`, with `"scope": "session"` or `"always"` for more than this call; the turn resumes.

    Repeating an answer gives 200 and changes nothing; a different one gives 403.
    """
    payload, by = call.payload, call.caller.by
    view = await settled_view(
        call.api.store, call.api.pending_approvals(), call.id, allowed=payload.allowed, scope=payload.scope, by=by
    )
    return json_response(view)


async def grants(call: EndpointCall[Nothing]) -> JsonResponse[GrantsAnswer]:
    """List the approvals that cover more than one call."""
    return json_response(await grants_view(call.api.pending_approvals()))


async def revoke(call: EndpointCall[Nothing]) -> JsonResponse[IdAnswer]:
    """Revoke an approval that covers more than one call."""
    await call.api.pending_approvals().revoke(call.id)
    return json_response({"id": call.id})
