"""`/health`, `/status`, `/timeline` and the like: read-only views, and the few operations the commands need."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict, cast

from starlette.responses import Response, StreamingResponse

from hob import __version__
from hob.bus.settings import REPORTS
from hob.core.errors import InvalidRequest, NotFound
from hob.core.events.notices import Notice, Progress, Settled
from hob.core.ids import SessionKey
from hob.core.messages import FETCHED_CHANNELS
from hob.core.models import PromptAnswer
from hob.core.states import TaskState
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.administration import TriedAnswer
from hob.gateway.answer_types import (
    AllRetriedAnswer,
    BackupAnswer,
    ReloadedAnswer,
    ReplayAnswer,
    RetriedAnswer,
    SpendingAnswer,
    StatusAnswer,
    UndoneAnswer,
)
from hob.gateway.api import Api
from hob.gateway.http.endpoint import LINES, EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.prometheus import MEDIA_TYPE, exposition
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.routes.sessions import SessionReference
from hob.gateway.routes.views import (
    TasksAnswer,
    TimelineAnswer,
    UnreadAnswer,
    export_lines,
    task_view,
    timeline_view,
    unread_view,
)


class HealthAnswer(TypedDict):
    """How Hob is, for machines.

    status: `ok` or `degraded`
    live: it runs; else nothing would answer
    ready: messages are accepted
    problem: why not, where they are not
    """

    status: str
    live: bool
    ready: bool
    version: str
    problem: str | None


class StoppedAnswer(TypedDict):
    """How much was ended."""

    ended: int


class HandingOverAnswer(TypedDict):
    """That this Hob ends after the work in hand."""

    handing_over: bool


class LiftedAnswer(TypedDict):
    """Whether anything was held."""

    lifted: bool


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """What is to be told of the spending."""

    days: int = field("how many days back", 30, at_least=1, at_most=3660)
    by: str = field("told apart by this", "day", one_of=("day", "model", "session", "sender", "task", "tool"))


@dataclass(frozen=True, slots=True)
class TasksQuery:
    """Which tasks are shown."""

    limit: int = field("at most so many", 50, at_least=1, at_most=1000)
    all: bool = field("ended ones too", False)
    state: str = field("those in this state alone", "", one_of=("", *TaskState))
    status: str = field("the same, as KafClaw calls it", "", one_of=("", *TaskState))
    channel: str = field("those of messages that came through this channel alone", "", characters=(0, 80))
    offset: int = field("without so many of the newest", 0, at_least=0, at_most=100_000)


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """Which events are shown."""

    trace: str | None = field("this trace, whole: its id, the beginning of it, or the id of a message or a turn", None)
    session: str | None = field("the latest of this session", None)
    limit: int = field("at most so many", 25, at_least=1, at_most=1000)


@dataclass(frozen=True, slots=True)
class ExportQuery:
    """What is exported."""

    session: str | None = field("this session; without it all of them", None)


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """What is brought back."""

    code: str = field("all that failed with this error code", "no_model")


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """What is put back."""

    id: str = field("the turn's or a message's, or what `back` said, to take an undoing back", "")
    session: str = field("without an id: the newest turn here that changed any file", "")
    preview: bool = field("only show it", False)


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What is replayed."""

    id: str = field("the turn's, a message's or a trace's", characters=(1, 200))
    model: str = field("the model that is asked now; without one none is, and nothing is spent", "")


@dataclass(frozen=True, slots=True)
class BackupRequest:
    """Where a copy is written."""

    file: str = field("an absolute path on this machine", "")


@dataclass(frozen=True, slots=True)
class ModelProbeRequest:
    """Which model is tried."""

    model: str = field("the model; without it the usual one", "")
    draft: str = field("what would be new about how it is reached, as `hob onboard` writes it; keys by reference", "")


@dataclass(frozen=True, slots=True)
class UnreadQuery:
    """Where replies wait to be fetched."""

    channel: str = field("`api` (programs) or `local` (the terminal)", "api", one_of=sorted(FETCHED_CHANNELS))
    session: str | None = field("only those of this session, by its key", None)
    after: float = field("only outcomes that came after this", 0.0, at_least=0, unit="Unix seconds")
    wait: float = field("how long to wait for one where there is none", 0.0, at_least=0, at_most=25, unit="seconds")


async def health(call: EndpointCall[Nothing]) -> JsonResponse[HealthAnswer]:
    """200 while messages can be accepted (`ready`), else 503 with the reason."""
    problem = call.api.store.problem
    if problem is None and not call.api.operations.accepting():
        problem = "stopping"
    ready = problem is None
    body: HealthAnswer = {
        "status": "ok" if ready else "degraded",
        "live": True,
        "ready": ready,
        "version": __version__,
        "problem": problem,
    }
    return json_response(body, 200 if ready else 503)


async def status(call: EndpointCall[Nothing]) -> JsonResponse[StatusAnswer]:
    """What is waiting, running, pending and spent."""
    return json_response(await status_view(call.api))


async def status_view(api: Api) -> StatusAnswer:
    """The same as values; features have names of their own in it."""
    return cast(StatusAnswer, {**await api.operations.status(), "connected": api.connected.view()})


async def metrics(call: EndpointCall[Nothing]) -> Response:
    """Figures in Prometheus's text format, where `gateway.metrics` is on: turns, tokens, costs, ages, failures."""
    if not call.api.settings.metrics:
        raise NotFound(
            translatable("metrics are off; `hob config set gateway.metrics true` and a restart switch them on")
        )
    return Response(exposition(await call.api.operations.metrics()), media_type=MEDIA_TYPE)


async def usage(call: EndpointCall[UsageQuery]) -> JsonResponse[SpendingAnswer]:
    """What was spent, told apart by day, model, session, sender, task or tool; and each limit.

    A call of a model counts for the tools whose results it read, in equal parts; under an empty key stand all others.
    """
    return json_response(await call.api.operations.usage(call.payload.days, call.payload.by))


async def unread(call: EndpointCall[UnreadQuery]) -> JsonResponse[UnreadAnswer]:
    """The messages whose answer, or question, no one has fetched yet; `GET /chat/{id}` fetches one."""
    payload, session = call.payload, None if call.payload.session is None else SessionKey(call.payload.session)
    with call.api.hub.subscribe(session=session) as notices:
        view = await unread_view(call.api.store, payload.channel, session, payload.after)
        with suppress(TimeoutError):
            async with asyncio.timeout(payload.wait):
                while not view["messages"] and await _has_outcome(notices):
                    view = await unread_view(call.api.store, payload.channel, session, payload.after)
    return json_response(view)


async def _has_outcome(notices: AsyncIterator[Notice]) -> bool:
    """True once something has ended or was reported; False where nothing will be any more."""
    async for notice in notices:
        if isinstance(notice, Settled) or (isinstance(notice, Progress) and notice.what == REPORTS):
            return True
    return False


async def tasks(call: EndpointCall[TasksQuery]) -> JsonResponse[TasksAnswer]:
    """The newest tasks."""
    return json_response(await found_tasks(call))


async def found_tasks(call: EndpointCall[TasksQuery], *, shown: bool = True) -> TasksAnswer:
    """The newest tasks that are wanted, with titles if they are `shown`."""
    payload = call.payload
    rows = await call.api.store.tasks.find(
        payload.limit, not payload.all, payload.state or payload.status, payload.channel, payload.offset
    )
    return {"tasks": [task_view(row, shown=shown) for row in rows]}


async def timeline(call: EndpointCall[TimelineQuery]) -> JsonResponse[TimelineAnswer]:
    """One trace, or the latest events."""
    payload = call.payload
    view = await timeline_view(call.api.store, trace=payload.trace, session=payload.session, limit=payload.limit)
    return json_response(view)


async def prompt(call: EndpointCall[SessionReference]) -> JsonResponse[PromptAnswer]:
    """What a session's next request would hold, by section."""
    return json_response(await call.api.operations.prompt(call.payload.session))


async def export(call: EndpointCall[ExportQuery]) -> Response:
    """A session or all of them as JSON lines, metadata first."""
    lines = export_lines(call.api.store, call.payload.session)
    first = await anext(lines, "")  # an unknown session is told before the answer has begun

    async def all_lines() -> AsyncIterator[str]:
        yield first
        async for line in lines:
            yield line

    return StreamingResponse(all_lines(), media_type=LINES)


async def stop_all(call: EndpointCall[Nothing]) -> JsonResponse[StoppedAnswer]:
    """End every turn and command, and hold what Hob would do by itself, over restarts too, until `/resume`."""
    return json_response({"ended": await call.api.operations.stop_all("/stop all")})


async def lift(call: EndpointCall[Nothing]) -> JsonResponse[LiftedAnswer]:
    """Let what Hob does by itself go on after `/stop`."""
    return json_response({"lifted": await call.api.operations.lift()})


async def retry(call: EndpointCall[Nothing]) -> JsonResponse[RetriedAnswer]:
    """Bring back a failed or set-aside message."""
    return json_response(await _with_message(call.api, await call.api.operations.retry(call.id)), 202)


async def retry_all(call: EndpointCall[RetryRequest]) -> JsonResponse[AllRetriedAnswer]:
    """Bring back every message that failed with an error code, such as what came while there was no model."""
    found = await call.api.operations.retry_all(call.payload.code)
    return json_response({"retried": [await _with_message(call.api, each) for each in found["retried"]]}, 202)


async def _with_message(api: Api, retried: Mapping[str, Any]) -> RetriedAnswer:
    """The message by which the outcome is asked for; none where a reply is only sent again."""
    message = await api.store.inbox.first_of(retried["turn"])
    result = None if message is None else await api.store.inbox.find_result(message)
    waits = None if result is None or result.settled else message
    return {"id": retried["id"], "turn": retried["turn"], "message": waits, "state": retried["state"]}


async def undo(call: EndpointCall[UndoRequest]) -> JsonResponse[UndoneAnswer]:
    """Put back what a turn changed in files, never over a later change."""
    payload = call.payload
    return json_response(await call.api.operations.undo(payload.id, payload.session, preview=payload.preview))


async def replay(call: EndpointCall[ReplayRequest]) -> JsonResponse[ReplayAnswer]:
    """Rebuild what models were given in a turn, and ask another one the same.

    Tools answer with what they gave then, and are not executed; nothing enters the session; what it costs is the task
    `replay`.
    """
    return json_response(await call.api.operations.replay(call.payload.id, call.payload.model))


async def backup(call: EndpointCall[BackupRequest]) -> JsonResponse[BackupAnswer]:
    """Write a consistent copy of the database to a file."""
    file = Path(call.payload.file)
    if not file.is_absolute():
        raise InvalidRequest(translatable("file must be an absolute path"))
    return json_response(await call.api.operations.backup(file))


async def reload(call: EndpointCall[Nothing]) -> JsonResponse[ReloadedAnswer]:
    """Read settings and secrets again, as SIGHUP does; tells which settings hold from the next start on."""
    return json_response(call.api.operations.reload())


async def probe_model(call: EndpointCall[ModelProbeRequest]) -> JsonResponse[TriedAnswer]:
    """Ask a model for a word and for a call; what that costs is counted as the task `test`."""
    return json_response(await call.api.operations.probe_model(call.payload.model, call.payload.draft))


async def hand_over(call: EndpointCall[Nothing]) -> JsonResponse[HandingOverAnswer]:
    """Ask a one-shot owner to end after the work in hand."""
    call.api.operations.hand_over()
    return json_response({"handing_over": True}, 202)
