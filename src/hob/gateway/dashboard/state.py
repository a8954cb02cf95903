"""Status, health, tasks, sessions and audit for the dashboard. Callers without a token see only the public status."""

import asyncio
import platform
from collections.abc import Sequence
from typing import TypedDict

from starlette.requests import Request

from hob import __version__
from hob.core.content.json_text import parse_json_object
from hob.core.errors import NotFound
from hob.core.ids import TurnId
from hob.core.memory import OWNER, Scope
from hob.core.models import TranscriptEntry
from hob.core.translation.language import translatable, translated
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.answer_types import PublicStatusAnswer, SessionsAnswer, StatusAnswer, ViewAnswer
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.auth.visitors import SocketOwner, Visitor
from hob.gateway.dashboard.timeline import may_read
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response, language_of
from hob.gateway.routes.sessions import SessionReference, SessionsQuery
from hob.gateway.routes.state import HealthAnswer, TasksQuery, found_tasks, health_view, status_view
from hob.gateway.routes.views import SentMessageAnswer, TaskAnswer, TasksAnswer, sent_view, task_view
from hob.guard.policy.rule_names import MODES, describe_rule, explain_verdict
from hob.store.audit.audit import AuditRow


class ViewsAnswer(TypedDict):
    """Plug-in pages."""

    views: Sequence[ViewAnswer]


class TodayAnswer(TypedDict):
    """Activity totals.

    tools: tool calls
    memories: memories stored since then; at most 5,000
    """

    turns: int
    tools: int
    memories: int


class AliveAnswer(TypedDict):
    """Whether Hob accepts messages."""

    ok: bool


class AliveDetailsAnswer(HealthAnswer):
    """The same with details."""

    ok: bool


class AuditAnswer(TypedDict):
    """An entry of the audit log.

    sentence: the rule in words, in the caller's language
    note: why an approval ended, in the caller's language; empty for all else
    """

    seq: int
    at: float
    kind: str
    name: str
    outcome: str
    rule: str
    sentence: str
    note: str
    sender: str
    turn: str
    trace_id: str
    detail: str | None
    hash: str


class AuditsAnswer(TypedDict):
    """Audit entries, newest last."""

    entries: list[AuditAnswer]


class CallAnswer(TypedDict):
    """A tool call."""

    id: str
    name: str
    arguments: str


class PictureAnswer(TypedDict):
    """An attached image."""

    id: str
    media_type: str


class EntryAnswer(TypedDict):
    """A message, an answer or a tool result."""

    n: int
    role: str
    text: str
    at: float
    turn: str
    trace_id: str | None
    trust: str
    origin: str
    calls: list[CallAnswer]
    call: str | None
    is_error: bool
    images: list[PictureAnswer]


class HistoryMessageAnswer(SentMessageAnswer):
    """A message that Hob sent beside the answer of a turn."""

    turn: str


class HistoryAnswer(TypedDict):
    """Part of a session, oldest first.

    messages: what Hob sent beside the answers of these turns
    """

    session: str
    entries: list[EntryAnswer]
    messages: list[HistoryMessageAnswer]
    before: int | None
    after: int | None


async def health(call: EndpointCall[Nothing]) -> JsonResponse[AliveDetailsAnswer] | JsonResponse[AliveAnswer]:
    """Return `{"ok": true}` while Hob accepts messages, else 503: for probes, without a token. With one: details."""
    told, caller = health_view(call.api), _caller(call.request)
    status = 200 if told["ready"] else 503
    if caller is None or caller.cls is not SenderClass.OWNER:
        return json_response(AliveAnswer(ok=told["ready"]), status)
    return json_response(AliveDetailsAnswer(ok=told["ready"], **told), status)


async def status(call: EndpointCall[Nothing]) -> JsonResponse[StatusAnswer] | JsonResponse[PublicStatusAnswer]:
    """Report Hob's status. Without a token, or with one of another person's: only version, mode and readiness."""
    api, caller = call.api, _caller(call.request)
    if caller is None or caller.cls is not SenderClass.OWNER:
        public: PublicStatusAnswer = {
            "version": __version__,
            "mode": api.operations.mode(),
            "ready": health_view(api)["ready"],
        }
        return json_response(public)
    found = await status_view(api)
    told: StatusAnswer = {
        **found,
        "agent_id": f"hob-{platform.node() or 'here'}",
        "uptime_seconds": round(api.clock.now().timestamp() - found["since"]),
        "model": translated(found["model"], language_of(call.request)),
        "group_enabled": False,
        "orchestrator_enabled": False,
    }
    return json_response(told)


@dataclass(frozen=True, slots=True)
class TodayQuery:
    """The start of the period."""

    since: float = field("the time from which on is counted (Unix seconds), as the day's beginning", 0.0, at_least=0)


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Selects audit entries."""

    limit: int = field("at most so many, the newest", 100, at_least=1, at_most=1000)
    kind: str = field("this kind alone", "")
    before: int = field("older than the entry with this number; 0: the newest", 0, at_least=0)
    text: str = field("whose name, outcome, rule, sender or detail contains this", "")


async def audit(call: EndpointCall[AuditQuery]) -> JsonResponse[AuditsAnswer]:
    """List audit entries: what was decided, allowed and refused, newest last."""
    wanted = call.payload
    rows = await call.api.store.audit.latest(wanted.limit, wanted.kind, before=wanted.before, text=wanted.text)
    return etagged(call.request, {"entries": [_entry(row, language_of(call.request)) for row in rows]})


async def today(call: EndpointCall[TodayQuery]) -> JsonResponse[TodayAnswer]:
    """Count turns, tool calls and stored memories since a time."""
    store, since = call.api.store, call.payload.since
    done, memories = await asyncio.gather(
        store.timeline.counts(since), store.memory_lifecycle.added(Scope(OWNER), since)
    )
    answer: TodayAnswer = {"turns": done.get("turn", 0), "tools": done.get("tool", 0), "memories": memories}
    return etagged(call.request, answer)


async def tasks(call: EndpointCall[TasksQuery]) -> JsonResponse[TasksAnswer]:
    """List the newest tasks."""
    return etagged(call.request, await found_tasks(call, shown=may_read(call.caller)))


async def task(call: EndpointCall[Nothing]) -> JsonResponse[TaskAnswer]:
    """Return one task."""
    row = await call.api.store.tasks.get(call.id)
    if row is None:
        raise NotFound(translatable("no task has this id"))
    return json_response(task_view(row, shown=may_read(call.caller)))


async def sessions(call: EndpointCall[SessionsQuery]) -> JsonResponse[SessionsAnswer]:
    """List every session, the latest first."""
    found = await call.api.operations.conversations.all(archived=call.payload.archived)
    if not may_read(call.caller):
        found = {"sessions": [{**each, "title": ""} for each in found["sessions"]]}
    return etagged(call.request, found)


async def views(call: EndpointCall[Nothing]) -> JsonResponse[ViewsAnswer]:
    """List the plug-ins' pages, each served below `/views/`."""
    return etagged(call.request, {"views": call.api.views})


@dataclass(frozen=True, slots=True)
class HistoryQuery(SessionReference):
    """Selects a part of a session."""

    before: int | None = field("only what stands before this place; without it the newest", None, at_least=1)
    after: int | None = field("only what stands after this place; `before` is ignored", None, at_least=0)
    limit: int = field("at most so many entries", 60, at_least=1, at_most=500)


async def history(call: EndpointCall[HistoryQuery]) -> JsonResponse[HistoryAnswer]:
    """Return the history of a session, oldest first.

    `before` leads to the previous part and is null at the beginning; `after` leads to the next part and is null at the
    end.
    """
    payload, transcript = call.payload, call.api.store.transcript
    key = await call.api.operations.conversations.key(payload.session)
    if payload.after is None:
        entries = await transcript.before(key, payload.before, payload.limit)
    else:
        entries = await transcript.after(key, payload.after, payload.limit)
    turns = dict.fromkeys(TurnId(each.turn) for each in entries)
    store = call.api.store
    traces, sent = await asyncio.gather(store.turns.traces(set(turns)), store.outbox.sent_beside(turns))
    shown: list[EntryAnswer] = [
        {
            "n": each.n,
            "role": each.role,
            "text": each.text,
            "at": each.at,
            "turn": each.turn,
            "trust": each.label.trust,
            "origin": each.label.origin,
            "calls": [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in each.calls],
            "call": each.call,
            "is_error": each.is_error,
            "trace_id": traces.get(TurnId(each.turn)),
            "images": [{"id": one.blob, "media_type": one.media_type} for one in each.images],
        }
        for each in entries
    ]
    before, after = _neighbours(payload, entries)
    messages: list[HistoryMessageAnswer] = [{**sent_view(each), "turn": each.outbound.turn or ""} for each in sent]
    told: HistoryAnswer = {"session": key, "entries": shown, "messages": messages, "before": before, "after": after}
    return etagged(call.request, told)


def _neighbours(query: HistoryQuery, entries: Sequence[TranscriptEntry]) -> tuple[int | None, int | None]:
    """Return where the previous and the next part of the history are; None where there is none."""
    is_full = len(entries) == query.limit
    if query.after is not None:
        return (entries[0].n if entries else query.after + 1), (entries[-1].n if is_full else None)
    if query.before is None:
        return (entries[0].n if is_full else None), None
    return (entries[0].n if is_full else None), (entries[-1].n if entries else query.before - 1)


def _caller(request: Request) -> ApiCaller | None:
    visitor: Visitor | SocketOwner = request.scope["visitor"]
    if isinstance(visitor, Visitor) and visitor.authorization is None and not (visitor.session and visitor.csrf):
        return None
    try:
        return visitor.caller()
    except HttpRefusal as refusal:
        if refusal.failure.code != "unauthorized":
            raise
        return None


def _entry(row: AuditRow, language: str) -> AuditAnswer:
    entry, detail = row.entry, parse_json_object(row.detail or "") or {}
    rule = explain_verdict(entry.rule, entry.outcome) if entry.outcome in MODES else describe_rule(entry.rule)
    return {
        "seq": row.seq,
        "at": entry.at,
        "kind": entry.kind,
        "name": entry.name,
        "outcome": entry.outcome,
        "rule": entry.rule,
        "sentence": translated(rule, language),
        "note": translated(str(detail.get("note", "")), language),
        "sender": entry.sender,
        "turn": entry.turn,
        "trace_id": entry.trace,
        "detail": row.detail,
        "hash": row.hash,
    }
