"""Making a tool call: check the arguments, ask the guard, run the tool, label and shorten the result."""

import asyncio
import json
import logging
from collections.abc import Callable, Collection
from dataclasses import replace

from hob.agent.ports import ClosedToolHints
from hob.agent.prompt.context_room import result_characters
from hob.agent.remarks import render
from hob.agent.turn.arguments import (
    brief_arguments,
    brief_result,
    load_arguments,
    nearest,
    problems_of,
    usage_of,
)
from hob.agent.turn.client_terms import tools_of_turn
from hob.agent.turn.dependencies import StepOutcome, Stopwatch, TurnDependencies
from hob.agent.turn.turn import CallState, substitute_result, unknown_outcome
from hob.core.clock import deadline
from hob.core.errors import (
    InvalidCall,
    OutcomeUnknown,
    ResultPending,
    StoreError,
    ToolFailed,
    ToolRefused,
    UserInputNeeded,
)
from hob.core.events.hooks import AfterTool, BeforeTool
from hob.core.events.notices import Progress
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import CallId
from hob.core.ports.guard import Allow, Ask, Deny
from hob.core.ports.tools import CallContext
from hob.core.steps import ApprovalAsked, ResultAwaited, ToolIntended, ToolReceived, UserAsked
from hob.core.tools import Effect, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.turns import Turn

log = logging.getLogger(__name__)

_HEAD_SHARE, _TAIL_SHARE = 0.7, 0.25  # shares of the limit that a shortened output keeps from its beginning and its end
_MAX_SHOWN_CHARS = 500  # characters of a call's arguments that are shown


class ToolCalls:
    """Checks and runs the calls of one turn."""

    def __init__(
        self,
        deps: TurnDependencies,
        turn: Turn,
        model: str,
        begun: Collection[CallId],
        is_shutting_down: Callable[[], bool],
    ) -> None:
        """`begun` are calls an earlier process started; `is_shutting_down` tells whether this process is ending."""
        self._begun = begun
        self._is_shutting_down = is_shutting_down
        self._deps = deps
        room = deps.context_room.measure(model, deps.settings, deps.settings.max_tokens)
        self._max_result_chars = result_characters(room)
        self._turn = turn
        self._tools = tools_of_turn(deps.toolset, turn)
        self._specs = {spec.name: spec for spec in self._tools.specs()}

    async def prepare(self, item: CallState, trust: Trust) -> StepOutcome:
        """Return the step before the call: an intent, a result that replaces the call, or a question to the owner."""
        if item.intent is not None:  # a crash followed the intent, and the tool may be called again
            return StepOutcome(item.intent)
        watch = Stopwatch.start(self._deps.clock)
        call = item.call
        spec = self._specs.get(call.name)
        if spec is None:
            return self._reject_unknown(call, watch)
        if item.allowed_by:  # it asked the user something and is repeated with the answer
            return StepOutcome(ToolIntended(call, spec.restart, item.allowed_by))
        if problem := _argument_problem(call, spec):
            return self._reject(call, problem, "bad_arguments", watch)
        if self._deps.hooks:
            decided = await self._deps.hooks.decide(BeforeTool(self._turn, call))
            if decided.denied is not None:
                return self._reject(call, f"Not run: {decided.denied}", "denied", watch, EventKind.POLICY)
            if decided.arguments is not None:
                call = replace(call, arguments=json.dumps(dict(decided.arguments), default=str))
        return await self._judge(replace(item, call=call), spec, trust, watch)

    async def perform(self, intent: ToolIntended, trust: Trust, seconds: float) -> StepOutcome:
        """Run the call for at most this many seconds. Always returns a result or a question, whatever the tool does."""
        call, clock = intent.call, self._deps.clock
        spec = self._specs.get(call.name)
        watch = Stopwatch.start(clock)
        if spec is None:  # the tool was removed between a crash and now
            return self._reject_unknown(call, watch)
        self._publish("tool", call.name, shown_arguments(self._deps, call))
        try:
            result, status = await self._call_tool(call, spec, trust, min(spec.timeout, seconds))
        except UserInputNeeded as question:
            self._publish("tool_done", call.name, "asked")
            event = self._event(watch, EventKind.TOOL, call, "asked")
            return StepOutcome(UserAsked(call.id, self._clean(str(question)), question.again), event)
        except ResultPending as pending:
            self._publish("tool_done", call.name, "asked")
            until = None if pending.seconds is None else clock.now().timestamp() + pending.seconds
            event = self._event(watch, EventKind.TOOL, call, pending.on)
            return StepOutcome(ResultAwaited(call.id, pending.on, until), event)
        result = replace(result, call=call.id, text=self._clean(result.text))
        if self._deps.hooks:
            decided = await self._deps.hooks.decide(AfterTool(self._turn, call, result))
            if decided.denied is not None:
                result = substitute_result(call.id, f"The result is withheld: {clean(decided.denied)}", status).result
        told = tuple(self._clean(render(each, self._deps.settings.language)) for each in result.remarks)
        for line in told:
            self._publish("remark", "", line)
        result = replace(await self._shorten(result, spec), remarks=())
        self._publish("tool_done", call.name, status)
        event = self._event(watch, EventKind.TOOL, call, status, result.text)
        return StepOutcome(ToolReceived(result, watch.seconds, status, told), replace(event, label=result.label))

    async def _judge(self, item: CallState, spec: ToolSpec, trust: Trust, watch: Stopwatch) -> StepOutcome:
        call = item.call
        verdict = await self._deps.judge.judge(call, spec, self._turn, trust)
        match verdict:
            case Allow(rule):
                return StepOutcome(ToolIntended(call, spec.restart, rule))
            case Deny(rule, reason):
                text = f"Not allowed here: {reason}"
                return self._reject(call, text, "denied", watch, EventKind.POLICY, rule)
            case Ask(rule, reason):
                if self._deps.approvals is None:
                    text = f"Not run: it needs an approval, and the owner cannot be asked ({reason})."
                    return self._reject(call, text, "denied", watch, EventKind.POLICY, rule)
                approval = await self._deps.approvals.ask(call, reason, self._turn)
                event = self._event(watch, EventKind.APPROVAL, call, "asked")
                return StepOutcome(ApprovalAsked(approval, call.id, reason), event)

    async def _call_tool(self, call: ToolCall, spec: ToolSpec, trust: Trust, seconds: float) -> tuple[ToolResult, str]:
        clock = self._deps.clock
        began = clock.monotonic()
        try:
            async with deadline(clock, seconds):
                context = CallContext(
                    self._turn, trust, self._max_result_chars, call.id in self._begun, self._is_shutting_down
                )
                result = await self._tools.call(call, context)
                return result, "error" if result.is_error else "ok"
        except OutcomeUnknown:
            return unknown_outcome(call).result, "unknown_outcome"
        except InvalidCall as error:
            return substitute_result(call.id, f"{call.name} failed: {error}", "error").result, "error"
        except ToolFailed as error:
            return _error_result(call, f"{call.name} failed: {error}"), "error"
        except ToolRefused as error:
            return _error_result(call, f"{call.name} refused: {error}"), "denied"
        except (UserInputNeeded, ResultPending):
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _error_result(call, f"{call.name} was interrupted from within."), "error"
        except Exception as error:  # errors of third-party tools end here
            name = call.name
            if isinstance(error, TimeoutError) and clock.monotonic() - began >= seconds:
                text = (
                    f"{call.name} did not finish within {seconds:g} seconds and was stopped; it may have taken effect."
                )
                return _error_result(call, text), "timeout"
            log.warning("tool %s failed", name, exc_info=error)
            return _error_result(call, f"{name} failed: {type(error).__name__}: {error}"), "error"

    async def _shorten(self, result: ToolResult, spec: ToolSpec) -> ToolResult:
        """Shorten the result to the limits of the tool and the model; the full text is kept as a blob."""
        text, cap = result.text, min(spec.output_cap, self._max_result_chars)
        if len(text) <= cap:
            return result
        where = ""
        rest = result.rest
        if rest is None:
            try:
                rest = await self._deps.blobs.put(text.encode(), "text/plain; charset=utf-8")
            except StoreError as error:
                log.warning("the whole output of %s is not kept: %s", spec.name, error)
        if rest is not None:
            where = f"; all of it: read blob:{rest}"
        head, tail = int(cap * _HEAD_SHARE), int(cap * _TAIL_SHARE)
        mark = f"\n[… {len(text) - head - tail} of {len(text)} characters left out{where} …]\n"
        return replace(result, text=text[:head] + mark + text[len(text) - tail :], rest=rest)

    def _reject(
        self,
        call: ToolCall,
        text: str,
        status: str,
        watch: Stopwatch,
        kind: EventKind = EventKind.TOOL,
        rule: str = "",
    ) -> StepOutcome:
        publish_skipped_call(self._deps, self._turn, call, status)
        event = self._event(watch, kind, call, rule or status, text)
        if kind is EventKind.POLICY:
            event = replace(event, authorized=False)
        return StepOutcome(substitute_result(call.id, text, status), event)

    def _event(self, watch: Stopwatch, kind: EventKind, call: ToolCall, status: str, result: str = "") -> TimelineEvent:
        """Return the call's timeline event: its main argument, and its result on a second line."""
        spec, arguments = self._specs.get(call.name), load_arguments(call.arguments)
        about = brief_arguments(arguments, spec.schema) if spec is not None and arguments is not None else ""
        runs = spec is not None and Effect.EXECUTES in spec.effects and status != "denied"
        text = f"{about}\n{brief_result(result, last=runs)}".rstrip("\n")
        return replace(watch.event(self._turn, kind, call.name, status), text=self._clean(text))

    def _clean(self, text: str) -> str:
        """Clean and mask a tool's text for storage and for the model."""
        return self._deps.mask(clean(text))

    def _reject_unknown(self, call: ToolCall, watch: Stopwatch) -> StepOutcome:
        if isinstance(self._tools, ClosedToolHints) and (way := self._tools.how_to_open(call.name)):
            return self._reject(call, f"Not run: {way}.", "not_loaded", watch)
        return self._reject(call, self._unknown_tool_text(call.name), "unknown_tool", watch)

    def _unknown_tool_text(self, name: str) -> str:
        close = nearest(name, tuple(self._specs))
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        if not hint:
            hint = f" There are: {', '.join(self._specs)}." if self._specs else " There are no tools here."
        return f"There is no tool {name!r}.{hint}"

    def _publish(self, what: str, name: str, text: str = "") -> None:
        self._deps.notices.publish(Progress(self._turn.trace, self._turn.session, what, name, text))


def publish_skipped_call(deps: TurnDependencies, turn: Turn, call: ToolCall, status: str) -> None:
    """Publish a call that was not made, and the reason."""
    for what, text in (("tool", shown_arguments(deps, call)), ("tool_done", status)):
        deps.notices.publish(Progress(turn.trace, turn.session, what, call.name, text))


def shown_arguments(deps: TurnDependencies, call: ToolCall) -> str:
    """Return the part of a call's arguments that people see while it runs."""
    return deps.mask(clean(call.arguments))[:_MAX_SHOWN_CHARS]


def clean(text: str) -> str:
    """Replace unpaired surrogates, which databases and wire formats reject."""
    if text.isascii():
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text if whole == text else whole


def _error_result(call: ToolCall, text: str) -> ToolResult:
    # A foreign tool's error text is as untrusted as its results.
    return ToolResult(call.id, text, is_error=True)


def _argument_problem(call: ToolCall, spec: ToolSpec) -> str:
    """Return what the model must correct before the call can run, or an empty string."""
    arguments = load_arguments(call.arguments)
    if arguments is None:
        return (
            "Not run: the arguments are no complete JSON object. Send them again, whole and shorter if they were long. "
            f"{usage_of(spec)}."
        )
    found = problems_of(arguments, spec.schema)
    return f"Not run: {'; '.join(found[:8])}. {usage_of(spec)}." if found else ""
