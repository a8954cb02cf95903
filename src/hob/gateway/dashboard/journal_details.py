"""Details of a trace's model and tool calls, from the journal."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from hob.core.content.json_text import parse_json
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import TurnId
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Step, ToolIntended, ToolReceived

MAX_TEXT = 20_000
"""Characters shown of a text, unless all of it is requested."""


def event_details(
    events: Sequence[TimelineEvent], steps: Mapping[TurnId, Sequence[Step]], maximum: int | None
) -> dict[str, dict[str, Any]]:
    """Return the journal's details of each model or tool event; events and steps are in the same order."""
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
    """Return the memories shown in a prompt, each with the parts of its score."""
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
    found = parse_json(text)
    return text[:MAX_TEXT] if found is None else found
