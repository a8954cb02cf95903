"""Tracking of a message from acceptance to its outcome."""

import asyncio
from collections.abc import AsyncGenerator

from hob.core.errors import HobError, NotFound, ShuttingDown, StoreDamaged
from hob.core.events.notices import MESSAGE_SENT, Delta, Notice, Progress, Retracted, Settled
from hob.core.ids import InboundId, OutboxId, TraceId
from hob.core.messages import POLLED_CHANNELS, Inbound
from hob.core.ports.accept import Accepted
from hob.core.states import TurnState
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.approvals import approval_view
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.chat.inbound import ClientEvent, is_own
from hob.gateway.chat.untaken_uploads import note_taken
from hob.gateway.http.failures import failure_of
from hob.gateway.routes.views import FINAL, ChatAnswer, chat_view, sent_view


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """The message waits for a person; `view` says what for. `begun`: it already waited when watching began."""

    view: ChatAnswer
    begun: bool


async def accept(api: Api, inbound: Inbound) -> Accepted:
    """Accept a message, together with the files uploaded for it. Raises HobErrors."""
    accepted = await api.accept(inbound)
    await note_taken(api.store, inbound)
    return accepted


async def outcome(api: Api, accepted: Accepted, wait: float, *, known: bool = False, fresh: bool = False) -> ChatAnswer:
    """Return the message's view once it is settled or asks a question, or as it is after `wait` seconds.

    A question that was already open is only reported if `known` is false. `fresh`: see `watch`.
    """
    try:
        async for item in watch(api, accepted, wait, fresh=fresh):
            if isinstance(item, OpenQuestion) and not (known and item.begun):
                return item.view
            if isinstance(item, dict):
                return item
    except ShuttingDown:
        pass
    return await _view(api, accepted)


async def watch(
    api: Api, accepted: Accepted, wait: float, *, fresh: bool = False
) -> AsyncGenerator[Notice | OpenQuestion | ChatAnswer, None]:
    """Yield the notices about a message, its questions, and last its view.

    `fresh`: nothing else ran since it was queued, so the store need not be read first. Raises ShuttingDown if Hob shuts
    down before the outcome, StoreDamaged if there will be no outcome.
    """
    # Subscribe before reading the store, so that the end cannot be missed. A message may be settled under another trace
    # (it joined that turn), so the whole session is watched.
    with api.hub.subscribe(session=accepted.session) as notices:
        view = None if fresh else await _view(api, accepted)
        traces = {accepted.trace} if view is None else {accepted.trace, await _trace(api, view)}
        if view is not None and _is_waiting(view):
            yield OpenQuestion(view, begun=True)
        deadline = asyncio.get_running_loop().time() + wait
        if api.store.damage and (view is None or view["state"] not in FINAL):
            raise StoreDamaged(api.store.damage)
        while view is None or view["state"] not in FINAL:
            try:
                async with asyncio.timeout_at(deadline):
                    notice = await anext(notices)
            except TimeoutError:
                view = await _view(api, accepted)
                break
            except StopAsyncIteration:
                raise (StoreDamaged(api.store.damage) if api.store.damage else ShuttingDown()) from None
            if not isinstance(notice, Settled):
                if notice.trace in traces:
                    yield notice
            elif not notice.inbounds or accepted.id in notice.inbounds:
                view = await _view(api, accepted)
                if notice.state is TurnState.PARKED and _is_waiting(view):
                    yield OpenQuestion(view, begun=False)
    yield view


def _is_waiting(view: ChatAnswer) -> bool:
    """Return whether the message waits for a person or for the program itself."""
    return "question" in view or "waits_for" in view


async def _trace(api: Api, view: ChatAnswer) -> TraceId:
    """Return the trace of the message's turn, which differs if it joined another one."""
    first = await api.store.results.find(InboundId(view["merged_into"])) if "merged_into" in view else None
    return TraceId(view["trace_id"]) if first is None else first.trace


async def _view(api: Api, accepted: Accepted) -> ChatAnswer:
    result = await api.store.results.find(accepted.id)
    if result is None:
        raise NotFound(translatable("no message with this id"))
    return chat_view(result)


async def follow(api: Api, inbound: Inbound, wait: float) -> AsyncGenerator[ClientEvent, None]:
    """Accept a message and yield its events; errors become events."""
    try:
        accepted = await accept(api, inbound)
        yield ClientEvent("accepted", {"id": accepted.id, "session": accepted.session, "trace_id": accepted.trace})
        async for event in _follow(api, accepted, wait):
            yield event
    except HobError as error:
        yield ClientEvent("error", {**failure_of(error).view()})


async def follow_again(api: Api, id: InboundId, wait: float) -> AsyncGenerator[ClientEvent, None]:
    """Yield the rest of an earlier message's events; errors become events."""
    try:
        async for event in _follow(api, await find_accepted(api, id), wait):
            yield event
    except HobError as error:
        yield ClientEvent("error", {**failure_of(error).view()})


async def _follow(api: Api, accepted: Accepted, wait: float) -> AsyncGenerator[ClientEvent, None]:
    try:
        async for item in watch(api, accepted, wait):
            if isinstance(item, OpenQuestion):
                yield await _question_event(api, item.view)
            elif not (isinstance(item, Progress) and item.what == MESSAGE_SENT):
                yield _event(item)
            elif sent := await api.store.outbox.find_sent(OutboxId(item.name)):
                yield ClientEvent("message", {"message": sent_view(sent)})
    except ShuttingDown:
        return  # a stream without a result tells the client to reconnect with the same key or id
    await mark_fetched(api, accepted.id)


async def _question_event(api: Api, view: ChatAnswer) -> ClientEvent:
    """Return the question's view with the details of each open approval."""
    found = [await api.store.approvals.find(id) for id in view.get("approvals", ())]
    asked = [
        await approval_view(api.store, each, api.pending_approvals().scopes(each)) for each in found if each is not None
    ]
    return ClientEvent("question", {**view, "asked": asked})


async def mark_fetched(api: Api, id: InboundId) -> None:
    """Record that this reply was fetched; called after it was sent."""
    if not api.store.damage:
        await api.store.outbox.handed_over(id, POLLED_CHANNELS)


async def find_accepted(api: Api, id: InboundId) -> Accepted:
    """Return the answer that was given when the message was accepted. Raises NotFound."""
    return (await find_message(api, id))[0]


async def find_message(api: Api, id: InboundId) -> tuple[Accepted, ChatAnswer]:
    """Return the answer that was given when the message was accepted, and its view. Raises NotFound."""
    result = await api.store.results.find(id)
    if result is None:
        raise NotFound(translatable("no message is called {id}; `hob tasks --all` lists them", id=id))
    return Accepted(result.id, result.trace, result.session, duplicate=True), chat_view(result)


async def find_own(api: Api, id: InboundId, caller: ApiCaller) -> Accepted:
    """Return a message for a caller; only the owner sees everyone's. Raises NotFound."""
    accepted = await find_accepted(api, id)
    if not is_own(caller, accepted.session):
        raise NotFound(translatable("no message of yours has this id"))
    return accepted


def _event(item: Notice | ChatAnswer) -> ClientEvent:
    match item:
        case Delta():
            return ClientEvent("reasoning" if item.reasoning else "delta", {"text": item.text})
        case Retracted():
            return ClientEvent("retracted", {})
        case Progress():
            return ClientEvent("progress", {"what": item.what, "name": item.name, "text": item.text})
        case Settled():
            return ClientEvent("progress", {"what": "settled", "name": "", "text": item.state.value})
        case dict():
            return ClientEvent("result", {**item})
