"""Web users, their linked chats, and their messages, below `/api/v1`."""

from dataclasses import replace
from typing import Any, TypedDict

from starlette.responses import Response

from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass
from hob.gateway.chat.inbound import ChatRequest
from hob.gateway.dashboard.endpoint_names import own
from hob.gateway.http.endpoint import EVENTS, JSON, EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.routes import chat
from hob.gateway.routes.table import ACCEPTING, MODEL_FAILURES
from hob.gateway.routes.views import ChatAnswer
from hob.gateway.webusers import WebUser, WebUsers

CHAT, READ, VIEW, METRICS, APPROVE, ADMIN = TokenScope
_WHO = "the user's id"
_WHATSAPP = "whatsapp:"


class WebUserAnswer(TypedDict):
    """A person who writes in the browser.

    force_send: whether the linked chat receives messages in silent mode too
    web_user_id: the same as `id`
    address: the linked chat; empty if there is none
    whatsapp_jid: the linked WhatsApp chat without its channel; else empty
    session: the person's session
    """

    id: str
    web_user_id: str
    name: str
    force_send: bool
    address: str
    whatsapp_jid: str
    created: float
    session: str


class WebUsersAnswer(TypedDict):
    """All web users."""

    web_users: list[WebUserAnswer]


@dataclass(frozen=True, slots=True)
class NewWebUser:
    """A new web user."""

    name: str = field("their name", characters=(1, 80))


@dataclass(frozen=True, slots=True)
class WebUserReference:
    """Selects a web user."""

    web_user_id: str = field(_WHO, characters=(1, 80))


@dataclass(frozen=True, slots=True)
class SilenceOverride(WebUserReference):
    """Whether a web user's chat is exempt from silent mode."""

    force_send: bool = field("send to their linked chat in silent mode too", True)


@dataclass(frozen=True, slots=True)
class LinkWebUserRequest(WebUserReference):
    """The chat to link to a web user."""

    address: str = field("`channel:id`; empty: linked to none", "", characters=(0, 300))
    whatsapp_jid: str | None = field("instead of it a chat of WhatsApp; empty: linked to none", None)


@dataclass(frozen=True, slots=True)
class WebChatRequest(ChatRequest):
    """A web user's message."""

    web_user_id: str = field("who writes; without one the owner, as at `POST /chat`", "", characters=(0, 80))


def _users(call: EndpointCall[Any]) -> WebUsers:
    return call.api.port(WebUsers)


def _view(user: WebUser) -> WebUserAnswer:
    return {
        "id": user.id,
        "web_user_id": user.id,
        "name": user.name,
        "force_send": user.force_send,
        "address": user.address,
        "whatsapp_jid": _jid(user.address),
        "created": user.created,
        "session": user.session,
    }


def _jid(address: str) -> str:
    """Return an address in WhatsApp's own spelling; empty for other channels."""
    known = address.removeprefix(_WHATSAPP) if address.startswith(_WHATSAPP) else ""
    return f"{known[1:]}@s.whatsapp.net" if known.startswith("+") else known


async def web_users(call: EndpointCall[Nothing]) -> JsonResponse[WebUsersAnswer]:
    """List all web users with their linked chats."""
    return json_response({"web_users": [_view(user) for user in _users(call).all()]})


async def add(call: EndpointCall[NewWebUser]) -> JsonResponse[WebUserAnswer]:
    """Add a web user, or return the existing one of this name."""
    return json_response(_view(await _users(call).add(call.payload.name)))


async def force(call: EndpointCall[SilenceOverride]) -> JsonResponse[WebUserAnswer]:
    """Set whether the linked chat receives messages in silent mode too."""
    return json_response(_view(await _users(call).change(call.payload.web_user_id, force_send=call.payload.force_send)))


async def remove(call: EndpointCall[Nothing]) -> Response:
    """Remove a web user and the link; the conversation stays."""
    await _users(call).remove(call.id)
    return json_response({"id": call.id})


async def link(call: EndpointCall[WebUserReference]) -> JsonResponse[WebUserAnswer]:
    """Return the chat linked to a web user."""
    return json_response(_view(_users(call).one(call.payload.web_user_id)))


async def set_link(call: EndpointCall[LinkWebUserRequest]) -> JsonResponse[WebUserAnswer]:
    """Link a web user to a chat, which then receives their messages and Hob's answers too."""
    payload, jid = call.payload, call.payload.whatsapp_jid
    address = payload.address if jid is None else jid and _WHATSAPP + jid
    return json_response(_view(await _users(call).change(payload.web_user_id, address=address)))


async def send(call: EndpointCall[WebChatRequest]) -> JsonResponse[ChatAnswer] | Response:
    """Send a message as `POST /chat` does. A web user's message belongs to their session and also goes to the linked
    chat.
    """
    payload: ChatRequest = call.payload
    if call.payload.web_user_id:
        payload = replace(payload, session=_users(call).one(call.payload.web_user_id).session)
    return await chat.post(EndpointCall(call.api, call.caller, payload, call.request))


_MISSING = ("not_found",)
ENDPOINTS = (
    own("GET", "/webusers", web_users, READ),
    own("POST", "/webusers", add, ADMIN, NewWebUser, changes="web_users"),
    own("POST", "/webusers/force", force, ADMIN, SilenceOverride, errors=_MISSING, changes="web_users"),
    own("DELETE", "/webusers/{id}", remove, ADMIN, errors=_MISSING, changes="web_users"),
    own("GET", "/weblinks", link, READ, WebUserReference, errors=_MISSING),
    own("POST", "/weblinks", set_link, ADMIN, LinkWebUserRequest, errors=_MISSING, changes="web_users"),
    own(
        "POST", "/webchat/send", send, CHAT, WebChatRequest, errors=(*ACCEPTING, "model_not_found"),
        failures=MODEL_FAILURES, media=(JSON, EVENTS), statuses=(200, 202),
    ),
)  # fmt: skip
