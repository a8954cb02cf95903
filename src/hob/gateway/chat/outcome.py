"""Following a message from its acceptance to its outcome."""

import asyncio
from collections.abc import AsyncGenerator

from hob.core.errors import HobError, NotFound, Stopping, StoreDamaged
from hob.core.events.notices import Delta, Notice, Progress, Retracted, Settled
from hob.core.ids import InboundId, TraceId
from hob.core.messages import FETCHED_CHANNELS, Inbound
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
from hob.gateway.routes.views import FINAL, ChatAnswer, chat_view


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """The message waits for people; the view says for what. `begun`: it did so before anybody looked."""

    view: ChatAnswer
    begun: bool


async def accept(api: Api, inbound: Inbound) -> Accepted:
    """Accept a message, and with it the files that were handed in for it. Raises HobErrors."""
    accepted = await api.accept(inbound)
    await note_taken(api.store, inbound)
    return accepted


async def outcome(api: Api, accepted: Accepted, wait: float, *, known: bool = False, fresh: bool = False) -> ChatAnswer:
    """The view of the message once it is settled or people are asked, or as it is when the time is up.

    A question that stands already is not waited at, unless it is `known`. `fresh`: see `watch`.
    """
    try:
        async for item in watch(api, accepted, wait, fresh=fresh):
            if isinstance(item, OpenQuestion) and not (known and item.begun):
                return item.view
            if isinstance(item, dict):
                return item
    except Stopping:
        pass
    return await _view(api, accepted)


async def watch(
    api: Api, accepted: Accepted, wait: float, *, fresh: bool = False
) -> AsyncGenerator[Notice | OpenQuestion | ChatAnswer, None]:
    """The notices about a message, what people are asked, and, last, its view.

    `fresh`: nothing else has run since it was queued, so nothing can have become of it and the store need not be asked.
    Raises Stopping when Hob shuts down before the outcome, StoreDamaged when there will be none.
    """
    # Watching begins before the store is read, so the end is seen either here or there. A message may be settled
    # under another one's trace (it joined its turn), so the whole session is watched.
    with api.hub.subscribe(session=accepted.session) as notices:
        view = None if fresh else await _view(api, accepted)
        traces = {accepted.trace} if view is None else {accepted.trace, await _trace(api, view)}
        if view is not None and _waits(view):
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
                raise (StoreDamaged(api.store.damage) if api.store.damage else Stopping()) from None
            if not isinstance(notice, Settled):
                if notice.trace in traces:
                    yield notice
            elif not notice.inbounds or accepted.id in notice.inbounds:
                view = await _view(api, accepted)
                if notice.state is TurnState.PARKED and _waits(view):
                    yield OpenQuestion(view, begun=False)
    yield view


def _waits(view: ChatAnswer) -> bool:
    """Whether people are asked, or the program itself."""
    return "question" in view or "waits_for" in view


async def _trace(api: Api, view: ChatAnswer) -> TraceId:
    """That of the turn which the message is in, e.g. as the answer to a question."""
    first = await api.store.inbox.find_result(InboundId(view["merged_into"])) if "merged_into" in view else None
    return TraceId(view["trace_id"]) if first is None else first.trace


async def _view(api: Api, accepted: Accepted) -> ChatAnswer:
    result = await api.store.inbox.find_result(accepted.id)
    if result is None:
        raise NotFound(translatable("no message with this id"))
    return chat_view(result)


async def follow(api: Api, inbound: Inbound, wait: float) -> AsyncGenerator[ClientEvent, None]:
    """Accept a message and tell its life; errors are told, not raised."""
    try:
        accepted = await accept(api, inbound)
        yield ClientEvent("accepted", {"id": accepted.id, "session": accepted.session, "trace_id": accepted.trace})
        async for event in _follow(api, accepted, wait):
            yield event
    except HobError as error:
        yield ClientEvent("error", {**failure_of(error).view()})


async def follow_again(api: Api, id: InboundId, wait: float) -> AsyncGenerator[ClientEvent, None]:
    """Tell the rest of an earlier message's life; errors are told, not raised."""
    try:
        async for event in _follow(api, await find_accepted(api, id), wait):
            yield event
    except HobError as error:
        yield ClientEvent("error", {**failure_of(error).view()})


async def _follow(api: Api, accepted: Accepted, wait: float) -> AsyncGenerator[ClientEvent, None]:
    try:
        async for item in watch(api, accepted, wait):
            yield await _asked(api, item.view) if isinstance(item, OpenQuestion) else _event(item)
    except Stopping:
        return  # a stream without a result says: come again with the same key or id
    await pick_up(api, accepted.id)


async def _asked(api: Api, view: ChatAnswer) -> ClientEvent:
    """The view, and beside it everything about each approval that stands."""
    found = [await api.store.approvals.find(id) for id in view.get("approvals", ())]
    asked = [
        await approval_view(api.store, each, api.pending_approvals().scopes(each)) for each in found if each is not None
    ]
    return ClientEvent("question", {**view, "asked": asked})


async def pick_up(api: Api, id: InboundId) -> None:
    """Note that anyone who fetches replies here has got this one; called after it was handed over."""
    if not api.store.damage:
        await api.store.outbox.handed_over(id, FETCHED_CHANNELS)


async def find_accepted(api: Api, id: InboundId) -> Accepted:
    """What was said when the message was accepted. Raises NotFound."""
    result = await api.store.inbox.find_result(id)
    if result is None:
        raise NotFound(translatable("no message is called {id}; `hob tasks --all` lists them", id=id))
    return Accepted(result.id, result.trace, result.session, duplicate=True)


async def find_own(api: Api, id: InboundId, caller: ApiCaller) -> Accepted:
    """The same for a caller: others than the owner have conversations of their own alone. Raises NotFound."""
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
