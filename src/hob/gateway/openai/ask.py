"""One request as one message: accepted or joined, awaited while its client is connected, concluded."""

import asyncio
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from typing import Any, TypeVar

from starlette.requests import Request

from hob.bus.waiting import unwrap_single_error
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import NotFound, ShuttingDown
from hob.core.ids import InboundId, OutboxId, escape_key_part
from hob.core.messages import Attachment, Inbound
from hob.core.models import Usage
from hob.core.ports.accept import Accepted
from hob.core.response_options import ResponseOptions
from hob.core.states import FINAL_TURNS, TurnState
from hob.core.tools import ToolCall
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.chat.inbound import ChatRequest, in_own_session, inbound_of
from hob.gateway.chat.outcome import OpenQuestion, mark_fetched, watch
from hob.gateway.chat.receive import check_model
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.failures import HttpRefusal, failure_of
from hob.gateway.openai.client_calls import open_calls, resume
from hob.gateway.openai.conversation import ConversationRequest, UploadedFile
from hob.gateway.openai.errors import OpenAIProblem, failed, refused
from hob.gateway.openai.joined_requests import Attempt, RequestJoiner, attempt_of, seal_of
from hob.gateway.openai.messages_beside import BETWEEN, find_beside
from hob.gateway.openai.requests import ChatCompletionRequest, ResponseRequest
from hob.gateway.openai.terms import form_note
from hob.gateway.routes.views import ChatAnswer, chat_view

T = TypeVar("T")

OWN_MODEL = "hob"
"""The name of the model that Hob chooses itself."""
LINGER = 30.0
"""Seconds after which a disconnected client's request is cancelled; clients retry within ten."""
_FINAL = frozenset(state.value for state in FINAL_TURNS)
_GIVEN_UP = "the program that asked has gone"


@dataclass(frozen=True, slots=True)
class ChatRun:
    """A request that was accepted, or joined an earlier request's message."""

    accepted: Accepted
    model: str
    """The model named by the request."""
    returns: bool
    """Whether the client may fetch the answer later: it sent a key, or the conversation persists."""
    answered: frozenset[str] = frozenset()
    """The client's calls whose results the request brought."""


@dataclass(frozen=True, slots=True)
class ChatOutcome:
    """An answer, or the questions to people that block it."""

    id: InboundId
    created: int
    text: str
    cut: bool
    usage: Usage
    view: ChatAnswer
    calls: tuple[ToolCall, ...] = ()
    """Calls that the client has to make first."""
    beside: Mapping[OutboxId, str] = field(default_factory=dict)
    """Messages that were sent beside the answer."""

    @property
    def content(self) -> str:
        """What clients show: the messages beside the answer, then the answer."""
        return BETWEEN.join(filter(None, (*self.beside.values(), self.text)))

    @property
    def waits(self) -> bool:
        """Whether people have to answer first."""
        return "question" in self.view

    @property
    def status(self) -> int:
        """The HTTP status; clients treat both as success."""
        return 202 if self.waits else 200

    @property
    def headers(self) -> dict[str, str]:
        """Headers that say where to poll while people are asked."""
        if not self.waits:
            return {}
        found = {"location": f"/chat/{self.id}"}
        approvals = self.view["approvals"]
        return found | ({"x-hob-approval": ", ".join(approvals)} if approvals else {})

    @property
    def about(self) -> dict[str, Any]:
        """Hob's own fields, beside OpenAI's."""
        kept = {"id", "session", "trace_id", "state", "notes", "messages", "question", "approvals"}
        return {name: value for name, value in self.view.items() if name in kept}


def conversation_of(call: EndpointCall[ChatCompletionRequest] | EndpointCall[ResponseRequest]) -> str | None:
    """Return the persistent session named by the header or by `user`, or None."""
    named = call.header("x-hob-session")
    if named is not None:
        if not (1 <= len(named) <= 200 and named.isprintable()):
            raise HttpRefusal(
                "invalid_request", "X-Hob-Session must have 1 to 200 printable characters", param="X-Hob-Session"
            )
        return named
    return None if call.payload.user is None else escape_key_part(call.payload.user)


async def ask(
    call: EndpointCall[ChatCompletionRequest] | EndpointCall[ResponseRequest],
    letter: ConversationRequest,
    session: str | None,
    terms: ResponseOptions | None = None,
) -> ChatRun:
    """Accept the request, or find the one that it repeats. Raises HobErrors and HttpRefusal if nothing was accepted."""
    api, caller, attempt = call.api, call.caller, attempt_of(call.request.headers)
    model = call.payload.model
    if model != OWN_MODEL:
        check_model(api, caller, model)
    files = [await _keep(api, file) for file in letter.files]
    chosen = ChatRequest(letter.text, session, None if model == OWN_MODEL else model)
    inbound = inbound_of(chosen, None, api.clock, caller, tuple(files))
    quoted = (*letter.quoted, *form_note(terms))
    inbound = replace(inbound if session else in_own_session(caller, inbound), quoted=quoted, terms=terms)
    accepted = await _accept(api, caller, inbound, attempt, call)
    return ChatRun(accepted, model, bool(session) or attempt.key is not None)


async def resumed(
    call: EndpointCall[ChatCompletionRequest] | EndpointCall[ResponseRequest], results: Mapping[str, str], param: str
) -> ChatRun:
    """Give the results of the client's calls to their turn. Raises HttpRefusal, NotFound, StoreErrors."""
    accepted = await resume(call.api, call.caller, results, param)
    return ChatRun(accepted, call.payload.model, returns=True, answered=frozenset(results))


async def _accept(api: Api, caller: ApiCaller, inbound: Inbound, attempt: Attempt, call: EndpointCall[Any]) -> Accepted:
    client = call.request.client
    return await api.kept(RequestJoiner).accept(
        api.accept,
        api.store,
        api.clock,
        inbound,
        attempt,
        seal=seal_of(call.payload, call.request.url.path, call.header("x-hob-session")),
        who=caller.by,
        place=client.host if client else "",
    )


async def _keep(api: Api, file: UploadedFile) -> Attachment:
    media_type = detect_media_type(file.data[:HEAD_BYTES])
    return Attachment(media_type, file.name, await api.store.blobs.put(file.data, media_type), size=len(file.data))


async def conclude(api: Api, id: InboundId, answered: Collection[str] = ()) -> ChatOutcome | OpenAIProblem:
    """Return the current outcome: an answer, questions to people, or a failure. Raises NotFound, StoreErrors.

    `answered` are the client's calls whose results the request brought.
    """
    found = await _conclude(api, id)
    return found if isinstance(found, OpenAIProblem) else replace(found, beside=await find_beside(api, id, answered))


async def _conclude(api: Api, id: InboundId) -> ChatOutcome | OpenAIProblem:
    result = await api.store.results.find(id)
    if result is None:
        raise NotFound("no message with this id")
    view = chat_view(result)
    if "error" in view:
        return failed(view["error"]["code"], view["error"]["message"])
    if result.state == TurnState.CANCELLED:
        told = view.get("notice") or "it was stopped before there was an answer"
        return OpenAIProblem(409, "cancelled", told, headers={"x-should-retry": "false"})
    if result.state in _FINAL:
        return ChatOutcome(id, int(result.created), view["reply"] or "", result.reason == "cut", result.usage, view)
    if result.for_client and result.turn is not None:
        text, calls = await open_calls(api, result.turn)
        return ChatOutcome(id, int(result.created), text, False, result.usage, view, calls)
    if "question" in view:
        return ChatOutcome(id, int(result.created), view["question"], False, result.usage, view)
    if not api.operations.accepting():
        return refused(failure_of(ShuttingDown()))
    told = "there is no answer yet, and the work goes on; ask the same again and wait for the rest of it"
    return OpenAIProblem(504, "still_running", told, headers={"x-should-retry": "true", "retry-after": "1"})


@asynccontextmanager
async def awaited(api: Api, id: InboundId) -> AsyncIterator[None]:
    """Mark this message's answer as awaited for the duration of the block."""
    api.kept(RequestJoiner).come(id)
    try:
        yield
    finally:
        api.kept(RequestJoiner).leave(id)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of `work`, or None if the client disconnects first. Raises what the work raises."""
    with unwrap_single_error():
        async with asyncio.TaskGroup() as group:
            doing, gone = group.create_task(work), group.create_task(until_gone(request))
            await asyncio.wait((doing, gone), return_when=asyncio.FIRST_COMPLETED)
            doing.cancel()
            gone.cancel()
    return None if doing.cancelled() else doing.result()


async def until_gone(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def part(api: Api, run: ChatRun, *, delivered: bool) -> None:
    """After the client has disconnected: record the answer as delivered, or cancel work that no client can fetch."""
    id = run.accepted.id
    if delivered:
        await mark_fetched(api, id)
    elif not run.returns:
        await _give_up(api, run.accepted)


async def _give_up(api: Api, accepted: Accepted) -> None:
    """Cancel the turn unless a client returns for it. Turns that wait for people continue."""
    try:
        async for item in watch(api, accepted, LINGER):
            if isinstance(item, OpenQuestion):
                return
    except ShuttingDown:
        return
    if not api.kept(RequestJoiner).is_awaited(accepted.id):
        await api.operations.cancel(accepted.id, _GIVEN_UP)
