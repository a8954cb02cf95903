"""Traces: the spans of one message, with its task, decisions and approvals."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import TraceId, TurnId
from hob.core.states import TurnState
from hob.core.translation.language import translatable, translated
from hob.core.values import dataclass
from hob.gateway.approvals import ApprovalAnswer, approval_view
from hob.gateway.dashboard.journal_details import MAX_TEXT, event_details
from hob.gateway.dashboard.timeline import SPAN_TYPES, EventFileAnswer, attached_files, may_read
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, language_of, requested_language
from hob.gateway.routes.views import EventAnswer, TaskAnswer, event_view, task_view, without_content
from hob.guard.policy.rule_names import explain_verdict
from hob.store.decisions import PolicyDecision
from hob.store.store import Store
from hob.store.tasks import TaskRow

T = TypeVar("T")


class SpanAnswer(TypedDict):
    """One timed span of a trace.

    type: the `span_type` of its event
    metadata: details of a model or tool call from the journal
    """

    id: str
    span_id: str
    parent_span_id: str | None
    type: str
    kind: str
    title: str
    time: float
    started_at: float
    seconds: float | None
    duration: str | None
    status: str
    output: str
    event: EventAnswer
    files: list[EventFileAnswer]
    metadata: dict[str, Any]


class DecisionAnswer(TypedDict):
    """A policy decision about one call.

    verdict: `allow`, `ask` or `deny`
    sentence: the rule in words, in the caller's language
    """

    tool: str
    tier: int | None
    allowed: bool
    verdict: str
    rule: str
    sentence: str
    reason: str
    call: str
    turn: str
    time: float


class DecisionsAnswer(TypedDict):
    """Policy decisions in order."""

    policy_decisions: list[DecisionAnswer]


class TraceTaskAnswer(TaskAnswer):
    """A task with the cost of its trace.

    delivery_status: kind of the last answer: `reply`, `error`, `notice` or `question`; empty before the first one
    completed_at: null until it is completed
    """

    channel: str
    delivery_status: str
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    completed_at: float | None


class JudgedAnswer(DecisionsAnswer):
    """The decisions and approvals of a trace, and its task."""

    task: TraceTaskAnswer | None
    approvals: list[ApprovalAnswer]


class TraceAnswer(JudgedAnswer):
    """One message's trace.

    erased: when its content was erased; null if it was not
    """

    trace_id: str
    spans: list[SpanAnswer]
    turns: list[str]
    erased: float | None


class NodeAnswer(TypedDict):
    """A span as a graph node."""

    id: str
    span_id: str
    parent_span_id: str | None
    type: str
    title: str
    start_time: float
    end_time: float
    duration_ms: int
    agent_id: str
    output: str


class EdgeAnswer(TypedDict):
    """An edge from a span to a part of it."""

    source: str
    target: str


class GraphAnswer(JudgedAnswer):
    """A trace as a graph."""

    nodes: list[NodeAnswer]
    edges: list[EdgeAnswer]


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """Options of a trace."""

    whole: bool = field("texts of any length; without it each ends after 20,000 characters", False)


async def trace(call: EndpointCall[TraceQuery]) -> JsonResponse[TraceAnswer]:
    """Return a message's trace: its spans in order, with requests and answers, its task and the decisions."""
    return etagged(call.request, await _trace(call, maximum=None if call.payload.whole else MAX_TEXT))


async def trace_graph(call: EndpointCall[Nothing]) -> JsonResponse[GraphAnswer]:
    """Return a trace as nodes and edges."""
    found = await _trace(call)
    nodes: list[NodeAnswer] = [
        {
            "id": span["id"],
            "span_id": span["span_id"],
            "parent_span_id": span["parent_span_id"],
            "type": span["type"],
            "title": span["title"],
            "start_time": span["started_at"],
            "end_time": span["started_at"] + (span["seconds"] or 0.0),
            "duration_ms": round((span["seconds"] or 0.0) * 1000),
            "agent_id": "hob",
            "output": span["output"],
        }
        for span in found["spans"]
    ]
    first = {node["span_id"]: node["id"] for node in reversed(nodes)}
    edges: list[EdgeAnswer] = [
        {"source": first[node["parent_span_id"]], "target": node["id"]}
        for node in nodes
        if node["parent_span_id"] in first and first[node["parent_span_id"]] != node["id"]
    ]
    return etagged(
        call.request,
        {
            "nodes": nodes,
            "edges": edges,
            "task": found["task"],
            "policy_decisions": found["policy_decisions"],
            "approvals": found["approvals"],
        },
    )


@dataclass(frozen=True, slots=True)
class DecisionsQuery:
    """Selects a trace."""

    trace_id: str = field("the trace")


async def policy_decisions(call: EndpointCall[DecisionsQuery]) -> JsonResponse[DecisionsAnswer]:
    """List the policy decisions of a trace, each with its rule."""
    events = await _events(call.api.store, call.payload.trace_id)
    found, language = await _decisions(call.api.store, _turns(events)), language_of(call.request)
    return etagged(call.request, {"policy_decisions": [_decision(each, language) for each in found]})


async def _trace(call: EndpointCall[Any], maximum: int | None = MAX_TEXT) -> TraceAnswer:
    store, shown = call.api.store, may_read(call.caller)
    events = await _events(store, call.id)
    turns = _turns(events)
    # concurrent queries share one trip to the database
    steps, asked, files, row, decisions, erased = await asyncio.gather(
        _of_each(turns, store.journal.load_steps),
        _of_each(turns if shown else (), store.approvals.of_turn),
        attached_files(call, events),
        _task_row(store, turns),
        _decisions(store, turns),
        store.journal.erased(turns),
    )
    details = event_details(events, dict(zip(turns, steps, strict=True)), maximum)
    spans = [_span(event, details.get(event.id, {}), files.get(event.id, []), shown=shown) for event in events]
    language, scopes = requested_language(call.request), call.api.pending_approvals().scopes
    views = (approval_view(store, each, scopes(each), language) for found in asked for each in found)
    approvals = await asyncio.gather(*views)
    return {
        "trace_id": events[0].trace,
        "spans": spans,
        "task": None if row is None else _task(row, events, shown=shown),
        "policy_decisions": [_decision(each, language_of(call.request)) for each in decisions],
        "approvals": approvals,
        "turns": [*turns],
        "erased": erased,
    }


async def _task_row(store: Store, turns: Sequence[TurnId]) -> TaskRow | None:
    """Return the task that began with the first of these turns."""
    return await store.tasks.of_turn(turns[0]) if turns else None


def _task(row: TaskRow, events: Sequence[TimelineEvent], *, shown: bool) -> TraceTaskAnswer:
    began = next((event.name for event in events if event.kind is EventKind.INBOUND), "")
    answered = [event.status for event in events if event.kind is EventKind.OUTBOUND]
    used = [event.usage for event in events if event.kind is EventKind.MODEL and event.usage is not None]
    given, said = sum(each.input for each in used), sum(each.output for each in used)
    return {
        **task_view(row, shown=shown),
        "channel": began,
        "delivery_status": answered[-1] if answered else "",
        "prompt_tokens": given,
        "completion_tokens": said,
        "total_tokens": given + said,
        "completed_at": None if row.state.value in ("pending", "running", "waiting") else row.updated,
    }


async def _events(store: Store, id: str) -> tuple[TimelineEvent, ...]:
    events = await store.timeline.trace(TraceId(id))
    if not events:
        raise NotFound(translatable("no trace has this id"))
    return tuple(sorted(events, key=lambda event: event.at))


def _turns(events: Iterable[TimelineEvent]) -> list[TurnId]:
    return list(dict.fromkeys(event.turn for event in events if event.turn is not None))


async def _decisions(store: Store, turns: Iterable[TurnId]) -> list[PolicyDecision]:
    return [each for found in await _of_each(turns, store.decisions.find) for each in found]


async def _of_each(turns: Iterable[TurnId], find: Callable[[TurnId], Awaitable[T]]) -> list[T]:
    """Return what is found for each turn. A trace has few turns, mostly one, for which tasks would cost more."""
    return [await find(turn) for turn in turns]


def _decision(decision: PolicyDecision, language: str) -> DecisionAnswer:
    return {
        "tool": decision.tool,
        "tier": decision.tier,
        "allowed": decision.verdict == "allow",
        "verdict": decision.verdict,
        "rule": decision.rule,
        "sentence": translated(explain_verdict(decision.rule, decision.verdict), language),
        "reason": decision.reason,
        "call": decision.call,
        "turn": decision.turn,
        "time": decision.at,
    }


_PRIVATE = ("response_text", "reasoning", "tool_calls", "arguments", "result", "remarks", "rest")


def _span(event: TimelineEvent, detail: Mapping[str, Any], files: list[EventFileAnswer], *, shown: bool) -> SpanAnswer:
    view = event_view(event)
    output = detail.get("response_text") or detail.get("result") or event.text
    if not shown:
        detail, output = {key: value for key, value in detail.items() if key not in _PRIVATE}, ""
        view = without_content(view)
    return {
        "id": event.id,
        "span_id": event.span,
        "parent_span_id": event.parent,
        "type": SPAN_TYPES.get(event.kind, "EVENT"),
        "kind": event.kind.value,
        "title": _title(event, view["name"]),
        "time": event.at,
        "started_at": event.at,
        "seconds": event.seconds,
        "duration": None if event.seconds is None else f"{event.seconds * 1000:.0f}ms",
        "status": event.status,
        "output": output[:MAX_TEXT],
        "event": view,
        "files": files,
        "metadata": dict(detail),
    }


def _title(event: TimelineEvent, name: str) -> str:
    if event.kind is EventKind.TURN:
        return event.classification or TurnState.RUNNING.value
    return name or event.kind.value
