"""`/health`, `/status`, `/timeline` and other read-only views, and the operations that commands need."""

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
from hob.core.messages import POLLED_CHANNELS
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
from hob.gateway.auth.visitors import SocketOwner
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
    """Hob's health, for machines.

    status: `ok` or `degraded`
    live: Hob runs; always true in an answer
    ready: messages are accepted
    problem: why not, if they are not
    """

    status: str
    live: bool
    ready: bool
    version: str
    problem: str | None


class StoppedAnswer(TypedDict):
    """The number of stopped turns and commands."""

    ended: int


class HandingOverAnswer(TypedDict):
    """Confirms that this Hob ends after the current work."""

    handing_over: bool


class LiftedAnswer(TypedDict):
    """Whether any work was held."""

    lifted: bool


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """The spending to report."""

    days: int = field("number of days", 30, at_least=1, at_most=3660)
    by: str = field("grouped by this", "day", one_of=("day", "model", "session", "sender", "task", "tool"))


@dataclass(frozen=True, slots=True)
class TasksQuery:
    """The tasks to show."""

    limit: int = field("maximum number", 50, at_least=1, at_most=1000)
    all: bool = field("include ended ones", False)
    state: str = field("only those in this state", "", one_of=("", *TaskState))
    status: str = field("KafClaw's name for `state`", "", one_of=("", *TaskState))
    channel: str = field("only those of messages from this channel", "", characters=(0, 80))
    offset: int = field("skip this many of the newest", 0, at_least=0, at_most=100_000)
    ended: bool = field("only ended ones", False)
    before: str = field("only those older than the task with this id", "", characters=(0, 80))


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """The events to show."""

    trace: str | None = field("this trace, whole: its id, the beginning of it, or the id of a message or a turn", None)
    session: str | None = field("the latest of this session", None)
    limit: int = field("maximum number", 25, at_least=1, at_most=1000)


@dataclass(frozen=True, slots=True)
class ExportQuery:
    """The sessions to export."""

    session: str | None = field("this session; without it all of them", None)


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """The failures to retry."""

    code: str = field("everything that failed with this error code", "no_model")


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """The changes to undo."""

    id: str = field("the id of a turn or message, or the `back` of an undo, to reverse it", "")
    session: str = field("without an id: the newest turn here that changed any file", "")
    preview: bool = field("only show what would change", False)


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """The turn to replay."""

    id: str = field("the id of a turn, a message or a trace", characters=(1, 200))
    model: str = field("the model to ask now; without one, none is asked and nothing is spent", "")


@dataclass(frozen=True, slots=True)
class BackupRequest:
    """The file for a copy."""

    file: str = field("an absolute path on this machine", "")


@dataclass(frozen=True, slots=True)
class ModelProbeRequest:
    """The model to probe."""

    model: str = field("the model; without one, the default model", "")
    draft: str = field("changed connection settings, as `hob onboard` writes them; keys by reference", "")


@dataclass(frozen=True, slots=True)
class UnreadQuery:
    """Selects replies that wait to be fetched."""

    channel: str = field("`api` (programs) or `local` (the terminal)", "api", one_of=sorted(POLLED_CHANNELS))
    session: str | None = field("only those of this session, by its key", None)
    after: float = field("only outcomes that came after this", 0.0, at_least=0, unit="Unix seconds")
    wait: float = field("how long to wait for one if there is none", 0.0, at_least=0, at_most=25, unit="seconds")


async def health(call: EndpointCall[Nothing]) -> JsonResponse[HealthAnswer]:
    """Report health: 200 while messages can be accepted (`ready`), else 503 with the reason."""
    told = health_view(call.api)
    return json_response(told, 200 if told["ready"] else 503)


def health_view(api: Api) -> HealthAnswer:
    """Return Hob's health."""
    problem = api.store.problem
    if problem is None and not api.operations.accepting():
        problem = "stopping"
    return {
        "status": "ok" if problem is None else "degraded",
        "live": True,
        "ready": problem is None,
        "version": __version__,
        "problem": problem,
    }


async def status(call: EndpointCall[Nothing]) -> JsonResponse[StatusAnswer]:
    """Report what is waiting, running, pending and spent."""
    return json_response(await status_view(call.api))


async def status_view(api: Api) -> StatusAnswer:
    """Return the status; features add fields of their own."""
    return cast(StatusAnswer, {**await api.operations.status(), "connected": api.connected.view()})


async def metrics(call: EndpointCall[Nothing]) -> Response:
    """Return metrics in Prometheus's text format, if `gateway.metrics` is on: turns, tokens, costs, ages, failures."""
    if not call.api.settings.metrics:
        raise NotFound(
            translatable("metrics are off; `hob config set gateway.metrics true` and a restart switch them on")
        )
    return Response(exposition(await call.api.operations.metrics()), media_type=MEDIA_TYPE)


async def usage(call: EndpointCall[UsageQuery]) -> JsonResponse[SpendingAnswer]:
    """Return the spending by day, model, session, sender, task or tool, and each limit.

    A model call counts for the tools whose results it read, in equal parts; the empty key has all others.
    """
    return json_response(await call.api.operations.usage(call.payload.days, call.payload.by))


async def unread(call: EndpointCall[UnreadQuery]) -> JsonResponse[UnreadAnswer]:
    """List the messages whose answer or question was not fetched yet; `GET /chat/{id}` fetches one."""
    payload, session = call.payload, None if call.payload.session is None else SessionKey(call.payload.session)
    with call.api.hub.subscribe(session=session) as notices:
        view = await unread_view(call.api.store, payload.channel, session, payload.after)
        with suppress(TimeoutError):
            async with asyncio.timeout(payload.wait):
                while not view["messages"] and await _has_outcome(notices):
                    view = await unread_view(call.api.store, payload.channel, session, payload.after)
    return json_response(view)


async def _has_outcome(notices: AsyncIterator[Notice]) -> bool:
    """Wait for an outcome or report. Return False if there will be none."""
    async for notice in notices:
        if isinstance(notice, Settled) or (isinstance(notice, Progress) and notice.what == REPORTS):
            return True
    return False


async def tasks(call: EndpointCall[TasksQuery]) -> JsonResponse[TasksAnswer]:
    """List the newest tasks."""
    return json_response(await found_tasks(call))


async def found_tasks(call: EndpointCall[TasksQuery], *, shown: bool = True) -> TasksAnswer:
    """Return the newest matching tasks, with titles if `shown`."""
    payload = call.payload
    rows = await call.api.store.tasks.find(
        payload.limit,
        not (payload.all or payload.ended),
        payload.state or payload.status,
        payload.channel,
        payload.offset,
        ended_only=payload.ended,
        before=payload.before,
    )
    more = rows[-1].id if len(rows) == payload.limit else None
    return {"tasks": [task_view(row, shown=shown) for row in rows], "before": more}


async def timeline(call: EndpointCall[TimelineQuery]) -> JsonResponse[TimelineAnswer]:
    """Return one trace, or the latest events."""
    payload = call.payload
    view = await timeline_view(call.api.store, trace=payload.trace, session=payload.session, limit=payload.limit)
    return json_response(view)


async def prompt(call: EndpointCall[SessionReference]) -> JsonResponse[PromptAnswer]:
    """Show what a session's next request would contain, by section."""
    return json_response(await call.api.operations.prompt(call.payload.session))


async def export(call: EndpointCall[ExportQuery]) -> Response:
    """Export one session or all of them as JSON lines, metadata first."""
    lines = export_lines(call.api.store, call.payload.session)
    first = await anext(lines, "")  # an unknown session is reported before the answer begins

    async def all_lines() -> AsyncIterator[str]:
        yield first
        async for line in lines:
            yield line

    return StreamingResponse(all_lines(), media_type=LINES)


async def stop_all(call: EndpointCall[Nothing]) -> JsonResponse[StoppedAnswer]:
    """Stop every turn and command, and hold self-started work, even after restarts, until `/resume`."""
    return json_response({"ended": await call.api.operations.stop_all("/stop all")})


async def lift(call: EndpointCall[Nothing]) -> JsonResponse[LiftedAnswer]:
    """Resume self-started work after `/stop`."""
    return json_response({"lifted": await call.api.operations.lift()})


async def retry(call: EndpointCall[Nothing]) -> JsonResponse[RetriedAnswer]:
    """Retry a failed or quarantined message."""
    return json_response(await _with_message(call.api, await call.api.operations.retry(call.id)), 202)


async def retry_all(call: EndpointCall[RetryRequest]) -> JsonResponse[AllRetriedAnswer]:
    """Retry every message that failed with an error code, e.g. those that arrived while there was no model."""
    found = await call.api.operations.retry_all(call.payload.code)
    return json_response({"retried": [await _with_message(call.api, each) for each in found["retried"]]}, 202)


async def _with_message(api: Api, retried: Mapping[str, Any]) -> RetriedAnswer:
    """Add the message by which the outcome can be followed; none if a reply is only sent again."""
    message = await api.store.inbox.first_of(retried["turn"])
    result = None if message is None else await api.store.results.find(message)
    waits = None if result is None or result.settled else message
    return {"id": retried["id"], "turn": retried["turn"], "message": waits, "state": retried["state"]}


async def undo(call: EndpointCall[UndoRequest]) -> JsonResponse[UndoneAnswer]:
    """Restore files that a turn changed, never over a later change."""
    payload = call.payload
    return json_response(await call.api.operations.undo(payload.id, payload.session, preview=payload.preview))


async def replay(call: EndpointCall[ReplayRequest]) -> JsonResponse[ReplayAnswer]:
    """Rebuild the requests of a turn, and send them to another model.

    Tools return their recorded results and are not executed; nothing enters the session; the cost is booked to the task
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
    """Reload settings and secrets, as SIGHUP does; the answer names settings that wait for a restart."""
    return json_response(call.api.operations.reload())


async def probe_model(call: EndpointCall[ModelProbeRequest]) -> JsonResponse[TriedAnswer]:
    """Ask a model for a word and a tool call; the cost is booked to the task `test`.

    A `draft` is accepted over the Unix socket only.
    """
    if call.payload.draft and not isinstance(call.request.scope["visitor"], SocketOwner):
        # its references run commands and read files, and its address receives what they return
        raise InvalidRequest("a draft is tested over the Unix socket only")
    return json_response(await call.api.operations.probe_model(call.payload.model, call.payload.draft))


async def hand_over(call: EndpointCall[Nothing]) -> JsonResponse[HandingOverAnswer]:
    """Ask a one-shot owner to end after its current work."""
    call.api.operations.hand_over()
    return json_response({"handing_over": True}, 202)
