"""Conversations: which there are, what stands in one, and what its owner does with it."""

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
    """Which sessions are shown."""

    archived: bool = field("those that were put away instead", False)


@dataclass(frozen=True, slots=True)
class SessionReference:
    """One session."""

    session: str = field("its key, or the name of one of the terminal's; without it the terminal's current one", "")


@dataclass(frozen=True, slots=True)
class ChangeSessionRequest:
    """What is changed about a session; what is not given stays."""

    session: str = field("its key, or the name of one of the terminal's; without it the terminal's current one", "")
    title: str | None = field("what it is called", None)
    paused: bool | None = field("whether what comes in waits", None)
    archived: bool | None = field("whether it is put away", None)


@dataclass(frozen=True, slots=True)
class ForkSessionRequest:
    """Where a new session begins."""

    session: str = field("its key, or the name of one of the terminal's; without it the terminal's current one", "")
    before: int | None = field("take over only what stands before this place; without it all", None, at_least=1)


async def fork(call: EndpointCall[ForkSessionRequest]) -> JsonResponse[ForkedAnswer]:
    """Begin a new session with what was said in this one, which stays as it is."""
    return json_response(await call.api.operations.conversations.fork(call.payload.session, call.payload.before))


async def sessions(call: EndpointCall[SessionsQuery]) -> JsonResponse[SessionsAnswer]:
    """Every session, the latest first."""
    return json_response(await call.api.operations.conversations.all(archived=call.payload.archived))


async def show(call: EndpointCall[SessionReference]) -> JsonResponse[SessionDetailsAnswer]:
    """One session: its rules, its spending, and the last that was said."""
    return json_response(await call.api.operations.conversations.one(call.payload.session))


async def change(call: EndpointCall[ChangeSessionRequest]) -> JsonResponse[SessionAnswer]:
    """Name a session, hold it, let it go on, put it away or bring it back."""
    payload, conversations = call.payload, call.api.operations.conversations
    changed = await conversations.change(
        payload.session, title=payload.title, paused=payload.paused, archived=payload.archived
    )
    return json_response(changed)


async def delete(call: EndpointCall[SessionReference]) -> JsonResponse[SessionDeletedAnswer]:
    """Erase all that was said in a session, for ever."""
    return json_response(await call.api.operations.conversations.delete(call.payload.session))
