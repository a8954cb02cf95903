"""Signing in and out: a link's code or a token becomes a browser login."""

import asyncio
from typing import Any, NotRequired, TypedDict

from starlette.responses import Response

from hob.core.errors import InvalidRequest
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.auth.browsers import SIGNED_IN_SECONDS, session_cookie, split_token
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.auth.visitors import SocketOwner, Visitor
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, json_response


class VerifiedAnswer(TypedDict):
    """Whether the caller is authenticated."""

    valid: bool
    auth_required: bool
    who: NotRequired[str]
    scopes: NotRequired[list[str]]


class LoginAnswer(TypedDict):
    """A browser login; the cookie that comes with it is its other half.

    csrf: the value for `X-CSRF-Token`, and for `token` in `hello` at `/ws`
    """

    who: str
    scopes: list[str]
    csrf: str


class LogoutAnswer(TypedDict):
    """Confirms that the login is no longer valid."""

    valid: bool


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials: a link's code or a token."""

    code: str = field("the code of a link that `hob dashboard` made; it is good once", "")
    token: str = field("a token, as it would stand after `Authorization: Bearer`", "")


async def verify(call: EndpointCall[Nothing]) -> JsonResponse[VerifiedAnswer]:
    """Check the caller's token and list its scopes. A wrong token counts as a failed attempt."""
    visitor: Visitor | SocketOwner = call.request.scope["visitor"]
    try:
        caller = visitor.caller()
    except HttpRefusal as refusal:
        if refusal.failure.code not in {"unauthorized", "missing_csrf"}:
            raise
        return json_response({"valid": False, "auth_required": True})
    return json_response({"valid": True, "auth_required": True, "who": caller.by, "scopes": _scopes(caller)})


async def login(call: EndpointCall[Login]) -> JsonResponse[LoginAnswer]:
    """Sign in: set a cookie and return the `csrf` value that `X-CSRF-Token` needs with every later call.

    Neither is valid without the other. The login lasts 30 days, but never longer than its token.
    """
    caller = _authenticate(call)
    if caller.cls is not SenderClass.OWNER:
        raise HttpRefusal("not_allowed", "this token is for talking only; the dashboard is the owner's")
    secret = await asyncio.to_thread(call.api.keyring.sign_in, caller, SIGNED_IN_SECONDS)
    cookie, csrf = split_token(secret)
    response = json_response(LoginAnswer({"who": caller.by, "scopes": _scopes(caller), "csrf": csrf}))
    _set_cookie(call, response, cookie, round(SIGNED_IN_SECONDS))
    return response


async def logout(call: EndpointCall[Nothing]) -> JsonResponse[LogoutAnswer]:
    """Sign out: invalidate the browser's login and every copy of it."""
    await asyncio.to_thread(call.api.keyring.sign_out, call.caller)
    response = json_response(LogoutAnswer(valid=False))
    _set_cookie(call, response, "", 0)
    return response


def _authenticate(call: EndpointCall[Login]) -> ApiCaller:
    """Return the caller who signs in. Raises HttpRefusal, which counts as a failed attempt."""
    visitor: Visitor | SocketOwner = call.request.scope["visitor"]
    if bool(call.payload.code) == bool(call.payload.token):
        raise InvalidRequest("give the code of a link, or a token")
    if call.payload.token:
        return visitor.show(call.payload.token)
    with visitor.trying():
        api = call.api
        caller = api.login_codes.redeem(call.payload.code, api.clock.monotonic, api.keyring.owners_hash())
        if caller is None:
            raise HttpRefusal("unauthorized", "this link was used or is too old; `hob dashboard` makes a new one")
        return caller


def _scopes(caller: ApiCaller) -> list[str]:
    return sorted(each.value for each in caller.scopes)


def _set_cookie(call: EndpointCall[Any], response: Response, value: str, seconds: int) -> None:
    port = (call.request.scope.get("server") or ("", 0))[1] or 0
    response.set_cookie(
        session_cookie(port), value, max_age=seconds, httponly=True, samesite="strict",
        secure=call.request.url.scheme == "https",
    )  # fmt: skip
