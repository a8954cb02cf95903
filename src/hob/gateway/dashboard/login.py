"""Signing in and out: a link's code, or a token, becomes a browser's own login."""

import asyncio
from typing import Any

from starlette.responses import Response

from hob.core.errors import InvalidRequest
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.auth.browsers import halves, session_cookie
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.auth.visitors import AtTheSocket, Visitor
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import json_response

SIGNED_IN_SECONDS = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Login:
    """One of both."""

    code: str = field("the code of a link that `hob dashboard` made; it is good once", "")
    token: str = field("a token, as it would stand after `Authorization: Bearer`", "")


async def verify(call: EndpointCall[Nothing]) -> Response:
    """Whether the caller is known, and what they may. A wrong token counts as a guess."""
    visitor: Visitor | AtTheSocket = call.request.scope["visitor"]
    try:
        caller = visitor.caller()
    except HttpRefusal as refusal:
        if refusal.failure.code not in {"unauthorized", "missing_csrf"}:
            raise
        return json_response({"valid": False, "auth_required": True})
    return json_response({"valid": True, "auth_required": True, **_who(caller)})


async def login(call: EndpointCall[Login]) -> Response:
    """Sign in: the answer sets a cookie, and holds the `csrf` that `X-CSRF-Token` takes with every later call.

    Neither is valid for anything without the other. The login holds for 30 days, and no longer than the token.
    """
    caller = _known(call)
    if caller.cls is not SenderClass.OWNER:
        raise HttpRefusal("not_allowed", "this token is for talking only; the dashboard is the owner's")
    secret = await asyncio.to_thread(call.api.keyring.sign_in, caller, SIGNED_IN_SECONDS)
    cookie, csrf = halves(secret)
    response = json_response({**_who(caller), "csrf": csrf})
    _set_cookie(call, response, cookie, round(SIGNED_IN_SECONDS))
    return response


async def logout(call: EndpointCall[Nothing]) -> Response:
    """Sign out: the browser's login holds no more, wherever a copy of it may be."""
    await asyncio.to_thread(call.api.keyring.sign_out, call.caller)
    response = json_response({"valid": False})
    _set_cookie(call, response, "", 0)
    return response


def _known(call: EndpointCall[Login]) -> ApiCaller:
    """Who signs in. Raises Refusal, which is counted."""
    visitor: Visitor | AtTheSocket = call.request.scope["visitor"]
    if bool(call.asked.code) == bool(call.asked.token):
        raise InvalidRequest("give the code of a link, or a token")
    if call.asked.token:
        return visitor.show(call.asked.token)
    with visitor.trying():
        caller = call.api.login_codes.redeem(call.asked.code, call.api.clock.monotonic)
        if caller is None:
            raise HttpRefusal("unauthorized", "this link was used or is too old; `hob dashboard` makes a new one")
        return caller


def _who(caller: ApiCaller) -> dict[str, Any]:
    return {"who": caller.by, "scopes": sorted(caller.scopes)}


def _set_cookie(call: EndpointCall[Any], response: Response, value: str, seconds: int) -> None:
    port = (call.request.scope.get("server") or ("", 0))[1] or 0
    response.set_cookie(
        session_cookie(port), value, max_age=seconds, httponly=True, samesite="strict",
        secure=call.request.url.scheme == "https",
    )  # fmt: skip
