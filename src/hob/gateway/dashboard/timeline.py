"""The timeline by pages, newest first, and one trace with all that is known of each of its spans."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from hob.core.content.json_text import json_value
from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import EventId, TraceId, TurnId
from hob.core.states import TurnState
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Step, ToolIntended, ToolReceived
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.approvals import ApprovalAnswer, approval_view
from hob.gateway.auth.callers import ApiCaller, TokenScope
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, requested_language
from hob.gateway.routes.views import EventAnswer, TaskAnswer, event_view, task_view, without_content
from hob.guard.policy.rule_names import explain_verdict
from hob.store.decisions import PolicyDecision
from hob.store.store import Store
from hob.store.tasks import TaskRow
from hob.store.timeline import TimelineFilter

SPAN_TYPES: Mapping[EventKind, str] = {
    EventKind.INBOUND: "INBOUND",
    EventKind.STEER: "INBOUND",
    EventKind.OUTBOUND: "OUTBOUND",
    EventKind.DELIVERY: "OUTBOUND",
    EventKind.MODEL: "LLM",
    EventKind.TOOL: "TOOL",
    EventKind.POLICY: "POLICY",
    EventKind.APPROVAL: "APPROVAL",
    EventKind.SUBAGENT: "DELEGATION",
}
"""How the page colours an event; the others are EVENT."""
_MAX_TEXT = 20_000


class EventFileAnswer(TypedDict):
    """A file that came with a message."""

    id: str
    name: str
    media_type: str
    size: int


class PlacedEvent(EventAnswer):
    """An event and its place.

    span_type: INBOUND, OUTBOUND, LLM, TOOL, POLICY, APPROVAL, DELEGATION or EVENT
    files: all that came with a message; `media` is the first
    """

    cursor: int
    span_type: str
    files: list[EventFileAnswer]


class PageAnswer(TypedDict):
    """A page of the timeline, newest first.

    before: leads to the next page; null where there is none
    newest: the place of the newest event of all
    """

    events: list[PlacedEvent]
    before: int | None
    newest: int


class SpanAnswer(TypedDict):
    """One timed part of a trace.

    type: as an event's `span_type`
    metadata: what the journal knows of a model's or a tool's call
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
    """A verdict on one call.

    verdict: `allow`, `ask` or `deny`
    sentence: what the rule says, in English
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
    """Verdicts in order."""

    policy_decisions: list[DecisionAnswer]


class TraceTaskAnswer(TaskAnswer):
    """A task, with what its trace cost.

    delivery_status: what became of the answer: `reply`, `error`, `notice` or `question`; empty: there is none yet
    completed_at: null while it goes on
    """

    channel: str
    delivery_status: str
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    completed_at: float | None


class JudgedAnswer(DecisionsAnswer):
    """What was decided on the way, and about which task."""

    task: TraceTaskAnswer | None
    approvals: list[ApprovalAnswer]


class TraceAnswer(JudgedAnswer):
    """One message's journey.

    erased: when what was asked and given in it was erased; null where it was not
    """

    trace_id: str
    spans: list[SpanAnswer]
    turns: list[str]
    erased: float | None


class NodeAnswer(TypedDict):
    """A span as a node."""

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
    """What a span is a part of."""

    source: str
    target: str


class GraphAnswer(JudgedAnswer):
    """A trace as a graph."""

    nodes: list[NodeAnswer]
    edges: list[EdgeAnswer]


@dataclass(frozen=True, slots=True)
class TimelinePageQuery:
    """Which events are shown, newest first."""

    before: int | None = field("only those before this cursor; without it from the newest on", None, at_least=1)
    limit: int = field("at most so many", 50, at_least=1, at_most=500)
    offset: int = field("without so many of the newest; `before` costs less", 0, at_least=0, at_most=10_000)
    kind: str = field("these [kinds](timeline.md#kinds) alone, separated by commas", "")
    session: str = field("this session alone, by its whole key", "")
    trace_id: str = field("this trace alone", "")
    sender: str = field("this sender alone, by id or name", "")
    name: str = field("this tool, model, channel or command alone", "")
    text: str = field("those in whose text or name this stands", "")
    errors: bool = field("what went wrong alone", False)
    tainted: bool = field("what carries untrusted content alone", False)
    authorized: bool | None = field("what was allowed in alone, or what was not", None)
    cost: float = field("what cost at least so many dollars alone", 0.0, at_least=0, at_most=1_000_000)


async def timeline(call: EndpointCall[TimelinePageQuery]) -> JsonResponse[PageAnswer]:
    """A page of the timeline, newest first; `before` of the answer leads to the next one, null where there is none.

    A page may be short, even empty, and lead on all the same: at most 20,000 events are looked through at once.
    """
    payload = call.payload
    wanted = TimelineFilter(
        kinds=tuple(each for each in payload.kind.split(",") if each),
        sessions=(payload.session,) if payload.session else (),
        trace=payload.trace_id,
        sender=payload.sender,
        name=payload.name,
        text=payload.text if may_read(call.caller) else "",
        errors=payload.errors,
        tainted=payload.tainted,
        authorized=payload.authorized,
        cost=round(payload.cost * 1e6),
    )
    page = await call.api.store.timeline.page(payload.before, payload.limit + payload.offset, wanted)
    shown = page.events[payload.offset :]
    files = await _files(call, [event for _, event in shown])
    events = [_event(place, event, call.caller, files) for place, event in shown]
    return etagged(call.request, {"events": events, "before": page.before, "newest": page.newest})


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """How much of a trace is shown."""

    whole: bool = field("texts of any length; without it each ends after 20,000 characters", False)


async def trace(call: EndpointCall[TraceQuery]) -> JsonResponse[TraceAnswer]:
    """One message's journey: its spans in order, what was asked and answered in each, its task and the decisions."""
    return etagged(call.request, await _trace(call, maximum=None if call.payload.whole else _MAX_TEXT))


async def trace_graph(call: EndpointCall[Nothing]) -> JsonResponse[GraphAnswer]:
    """The same as nodes and edges."""
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
    """Whose decisions are shown."""

    trace_id: str = field("the trace")


async def policy_decisions(call: EndpointCall[DecisionsQuery]) -> JsonResponse[DecisionsAnswer]:
    """What was allowed and refused in a trace, and by which rule."""
    events = await _events(call.api.store, call.payload.trace_id)
    found = await _decisions(call.api.store, _turns(events))
    return etagged(call.request, {"policy_decisions": [_decision(each) for each in found]})


def may_read(caller: ApiCaller) -> bool:
    """Whether this caller sees what messages say."""
    return caller.may(TokenScope.READ)


async def _trace(call: EndpointCall[Any], maximum: int | None = _MAX_TEXT) -> TraceAnswer:
    store, shown = call.api.store, may_read(call.caller)
    events = await _events(store, call.id)
    turns = _turns(events)
    steps, asked, files, row, decisions, erased = await asyncio.gather(  # what is asked together is answered together
        asyncio.gather(*map(store.journal.load_steps, turns)),
        asyncio.gather(*(store.approvals.of_turn(turn) for turn in turns if shown)),
        _files(call, events),
        _row(store, turns),
        _decisions(store, turns),
        store.journal.erased(turns),
    )
    details = _details(events, dict(zip(turns, steps, strict=True)), maximum)
    spans = [_span(event, details.get(event.id, {}), files.get(event.id, []), shown=shown) for event in events]
    language, scopes = requested_language(call.request), call.api.pending_approvals().scopes
    approvals = [await approval_view(store, each, scopes(each), language) for found in asked for each in found]
    return {
        "trace_id": events[0].trace,
        "spans": spans,
        "task": None if row is None else _task(row, events, shown=shown),
        "policy_decisions": [_decision(each) for each in decisions],
        "approvals": approvals,
        "turns": [*turns],
        "erased": erased,
    }


async def _row(store: Store, turns: Sequence[TurnId]) -> TaskRow | None:
    """The task that the first of these turns began with."""
    message = await store.inbox.first_of(turns[0]) if turns else None
    return None if message is None else await store.tasks.get(message)


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
    return [each for found in await asyncio.gather(*map(store.decisions.find, turns)) for each in found]


def _decision(decision: PolicyDecision) -> DecisionAnswer:
    return {
        "tool": decision.tool,
        "tier": decision.tier,
        "allowed": decision.verdict == "allow",
        "verdict": decision.verdict,
        "rule": decision.rule,
        "sentence": explain_verdict(decision.rule, decision.verdict),
        "reason": decision.reason,
        "call": decision.call,
        "turn": decision.turn,
        "time": decision.at,
    }


async def _files(call: EndpointCall[Any], events: Iterable[TimelineEvent]) -> Mapping[EventId, list[EventFileAnswer]]:
    """What came with these messages, if the caller may see it."""
    began = [event for event in events if event.media is not None] if may_read(call.caller) else []
    found = await call.api.store.inbox.attached({event.trace for event in began})
    return {
        event.id: [
            {"id": each.blob, "name": each.name, "media_type": each.media_type, "size": each.size}
            for each in found.get(event.trace, ())
            if each.blob is not None
        ]
        for event in began
    }


def _event(
    place: int, event: TimelineEvent, caller: ApiCaller, files: Mapping[EventId, list[EventFileAnswer]]
) -> PlacedEvent:
    view = event_view(event) if may_read(caller) else without_content(event_view(event))
    span_type = SPAN_TYPES.get(event.kind, "EVENT")
    return {"cursor": place, **view, "span_type": span_type, "files": files.get(event.id, [])}


def _details(
    events: Sequence[TimelineEvent], steps: Mapping[TurnId, Sequence[Step]], maximum: int | None
) -> dict[str, dict[str, Any]]:
    """What the journal knows of each event of a model or a tool; both are written in the same order."""
    found: dict[str, dict[str, Any]] = {}
    for turn, done in steps.items():
        models, tools = _journalled(done, maximum)
        for event in sorted((each for each in events if each.turn == turn), key=lambda each: each.at):
            waiting = models if event.kind is EventKind.MODEL else tools[event.name]
            if event.kind in (EventKind.MODEL, EventKind.TOOL) and waiting:
                found[event.id] = waiting.popleft()
    return found


def _journalled(
    steps: Sequence[Step], maximum: int | None
) -> tuple[deque[dict[str, Any]], Mapping[str, deque[dict[str, Any]]]]:
    models: deque[dict[str, Any]] = deque()
    tools: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
    asked: dict[str, Any] = {}
    recalled: list[dict[str, Any]] = []
    intended: dict[str, ToolIntended] = {}
    for n, step in enumerate(steps):
        match step:
            case ModelAsked():
                recalled = recalled_view(step) or recalled
                asked = {"step": n, **_asked(step), "recalled": recalled}
            case ModelReplied():
                models.append({**asked, **_replied(step, maximum)})
            case ModelFailed():
                failed = {"fault": step.fault, "response_text": str(step.detail), "attempts": step.attempts}
                models.append({**asked, **failed})
            case ToolIntended():
                intended[step.call.id] = step
            case ToolReceived() if (call := intended.get(step.result.call)) is not None:
                tools[call.call.name].append(_received(call, step, maximum))
    return models, tools


def recalled_view(step: ModelAsked) -> list[dict[str, Any]]:
    """The memories that a prompt had, each with what its score is made of."""
    return [{"id": each.id, "score": each.score, "parts": dict(each.parts)} for each in step.recalled]


def _asked(step: ModelAsked) -> dict[str, Any]:
    return {
        "trust": step.trust.value,
        "request_hash": step.request_hash,
        "sections": [
            {"name": name, "bytes": size, "tokens": tokens, "cached": cached}
            for name, size, tokens, cached in step.sections
        ],
        "input_estimate": step.input_estimate,
    }


def _replied(step: ModelReplied, maximum: int | None) -> dict[str, Any]:
    calls = [{"name": call.name, "arguments": _arguments(call.arguments)} for call in step.calls]
    usage = step.usage
    return {
        "model": step.ref or step.model,
        "finish_reason": step.stop.value,
        "response_text": step.text[:maximum],
        "reasoning": step.reasoning[:maximum],
        "tool_calls": calls,
        "attempts": step.attempts,
        "prompt_tokens": None if usage is None else usage.input,
        "cached_tokens": None if usage is None else usage.cache_read,
        "completion_tokens": None if usage is None else usage.output,
        "cost_usd": None if step.cost is None else step.cost / 1_000_000,
        "remarks": list(step.remarks),
    }


def _received(intended: ToolIntended, step: ToolReceived, maximum: int | None) -> dict[str, Any]:
    result = step.result
    return {
        "tool_name": intended.call.name,
        "tool_call_id": intended.call.id,
        "arguments": _arguments(intended.call.arguments),
        "rule": intended.rule,
        "result": result.text[:maximum],
        "result_length": len(result.text),
        "rest": result.rest,
        "error": result.is_error,
        "origin": result.label.origin.value,
        "trust": result.label.trust.value,
        "status": step.status,
        "remarks": [*step.remarks],
    }


def _arguments(text: str) -> Any:
    found = json_value(text)
    return text[:_MAX_TEXT] if found is None else found


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
        "title": _title(event),
        "time": event.at,
        "started_at": event.at,
        "seconds": event.seconds,
        "duration": None if event.seconds is None else f"{event.seconds * 1000:.0f}ms",
        "status": event.status,
        "output": output[:_MAX_TEXT],
        "event": view,
        "files": files,
        "metadata": dict(detail),
    }


def _title(event: TimelineEvent) -> str:
    if event.kind is EventKind.TURN:
        return event.classification or TurnState.RUNNING.value
    return event.name or event.kind.value
