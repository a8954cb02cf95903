"""Sessions: listing, showing and changing them."""

from hob.core.values import dataclass
from hob.gateway.answer_types import (
    ForkedAnswer,
    SessionAnswer,
    SessionDeletedAnswer,
    SessionDetailsAnswer,
    SessionsAnswer,
)
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import field
from hob.gateway.http.reply import JsonResponse, json_response


@dataclass(frozen=True, slots=True)
class SessionsQuery:
    """The sessions to show."""

    archived: bool = field("only archived ones", False)


@dataclass(frozen=True, slots=True)
class SessionReference:
    """One session."""

    session: str = field("its key, or the name of one of the terminal's; without one, the terminal's current one", "")


@dataclass(frozen=True, slots=True)
class ChangeSessionRequest:
    """Changes of a session; omitted fields stay as they are."""

    session: str = field("its key, or the name of one of the terminal's; without one, the terminal's current one", "")
    title: str | None = field("its title", None)
    paused: bool | None = field("whether incoming messages wait", None)
    archived: bool | None = field("whether it is archived", None)


@dataclass(frozen=True, slots=True)
class ForkSessionRequest:
    """The start of a new session."""

    session: str = field("its key, or the name of one of the terminal's; without one, the terminal's current one", "")
    before: int | None = field("copy only what comes before this place; without one, everything", None, at_least=1)


async def fork(call: EndpointCall[ForkSessionRequest]) -> JsonResponse[ForkedAnswer]:
    """Start a new session with a copy of this one, which stays as it is."""
    return json_response(await call.api.operations.conversations.fork(call.payload.session, call.payload.before))


async def sessions(call: EndpointCall[SessionsQuery]) -> JsonResponse[SessionsAnswer]:
    """List every session, latest first."""
    return json_response(await call.api.operations.conversations.all(archived=call.payload.archived))


async def show(call: EndpointCall[SessionReference]) -> JsonResponse[SessionDetailsAnswer]:
    """Return one session: its rules, its spending, and its latest messages."""
    return json_response(await call.api.operations.conversations.one(call.payload.session))


async def change(call: EndpointCall[ChangeSessionRequest]) -> JsonResponse[SessionAnswer]:
    """Rename a session, pause or resume it, archive or restore it."""
    payload, conversations = call.payload, call.api.operations.conversations
    changed = await conversations.change(
        payload.session, title=payload.title, paused=payload.paused, archived=payload.archived
    )
    return json_response(changed)


async def delete(call: EndpointCall[SessionReference]) -> JsonResponse[SessionDeletedAnswer]:
    """Erase everything said in a session, permanently."""
    return json_response(await call.api.operations.conversations.delete(call.payload.session))
