"""What the owner is asked, and the owner's answers. Whoever may call these speaks as the owner."""

import json

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from hob.core.errors import InvalidRequest
from hob.gateway.approvals import approval_view, approvals_view, grants_view, settled_view
from hob.gateway.reply import api_of, json_response

_FIELDS = frozenset({"allowed", "scope"})
_MOST_BYTES = 1_000


async def approvals(request: Request) -> Response:
    """The questions that stand, oldest first."""
    api = api_of(request)
    return json_response(await approvals_view(api.store, api.leaves()))


async def approval(request: Request) -> Response:
    """One question, answered or not, with everything that would be done."""
    api = api_of(request)
    found = await api.leaves().find(request.path_params["id"])
    return json_response(await approval_view(api.store, found, api.leaves().scopes(found)))


async def settle(request: Request) -> Response:
    """Answer: `{"allowed": true}`, with `"scope": "session"` or `"always"` for more than this once; the turn goes on.

    The same answer again is 200 and changes nothing; another one is 403.
    """
    api = api_of(request)
    allowed, scope = await _read_answer(request)
    by = f"{'local' if request.app.state.local else 'api'}:owner"
    id = request.path_params["id"]
    return json_response(await settled_view(api.store, api.leaves(), id, allowed=allowed, scope=scope, by=by))


async def grants(request: Request) -> Response:
    """The leaves that hold for more than once."""
    return json_response(await grants_view(api_of(request).leaves()))


async def revoke(request: Request) -> Response:
    """Take one of those back."""
    id = request.path_params["id"]
    await api_of(request).leaves().revoke(id)
    return json_response({"id": id})


async def _read_answer(request: Request) -> tuple[bool, str]:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "the body is too large")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not isinstance(fields.get("allowed"), bool):
        raise InvalidRequest('the body must be an object such as {"allowed": true}')
    unknown = sorted(fields.keys() - _FIELDS)
    if unknown:
        raise InvalidRequest(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    scope = fields.get("scope", "once")
    if not isinstance(scope, str):
        raise InvalidRequest("scope must be a string")
    return fields["allowed"], scope
