"""A turn without I/O: its state is a fold over journalled steps, and the state decides the next command.

Theory of operation. `start` returns the state of a fresh turn, `fold` adds one step to it, `decide` returns the next
command. The driver performs the command, journals the outcome as steps, folds them and asks again. Nothing else is
remembered, so a turn resumes from its steps alone after a crash, a park or an upgrade. Two rules make that work:

* A step that announces an effect (`ModelAsked`, `ToolIntended`) is durable before the effect; the step that reports it
  (`ModelReplied`, `ToolReceived`) follows. If `decide` sees an announcement without a report, the process ended in
  between: the model is asked again, a tool call is repeated only if its tool declares that to be harmless.
* `decide` uses neither clock nor randomness: the same steps and rules always give the same command.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from hob.agent.turn.claims import ABOUT_CLAIM, READING, Claim, find_unbacked
from hob.agent.turn.client_terms import (
    ABOUT_CHOICE,
    ABOUT_FORM,
    MAX_FORMAT_ATTEMPTS,
    NO_TERMS,
    cut_at_stop_word,
    parse_reply,
)
from hob.agent.turn.loops import MAX_HISTORY, Level, LoopFinding, LoopRules, SeenCall, find_loop, seen, signature_of
from hob.core.content.json_text import parse_json_object
from hob.core.errors import ModelFault
from hob.core.ids import CallId, TurnId
from hob.core.messages import OutboundKind
from hob.core.models import StopReason
from hob.core.response_options import ResponseOptions
from hob.core.states import TurnState
from hob.core.steps import (
    ApprovalAnswered,
    ApprovalAsked,
    Cancelled,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    Noted,
    ResultAwaited,
    Said,
    Shortened,
    Steered,
    Step,
    Stopped,
    ToolIntended,
    ToolReceived,
    Transcribed,
    UserAnswered,
    UserAsked,
    Waited,
)
from hob.core.tools import ALL_EFFECTS, Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.translation.sentences import FAULT_SENTENCES, Sentence, format_duration, say, say_stopped
from hob.core.trust.labels import HOB_LABEL, Trust
from hob.core.turns import Turn, WaitsFor
from hob.core.values import dataclass

TRANSIENT_FAULTS = frozenset({ModelFault.RATE_LIMIT, ModelFault.OVERLOAD, ModelFault.NETWORK})
"""Faults that are temporary; background work waits for them to pass."""

COUNTED_STATUSES = frozenset({"ok", "error", "timeout", "unknown_tool", "not_loaded", "bad_arguments", "denied"})
"""Statuses of results that describe the call itself; the others say why it was not tried."""
UNKNOWN_TOOL_STATUSES = frozenset({"unknown_tool", "not_loaded"})
"""Statuses of calls to a tool the model does not have."""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """Input of `decide` besides the state.

    `parallel` names the tools whose calls may run at once; `tools` are the known ones by name, without the client's.
    """

    max_rounds: int = 20
    window: int = 20
    wait_attempts: int = 8
    language: str = "en"
    parallel: frozenset[str] = frozenset()
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    terms: ResponseOptions = NO_TERMS
    loops: LoopRules = field(default_factory=LoopRules)


@dataclass(frozen=True, slots=True)
class CallState:
    """Progress of one call of the newest reply."""

    call: ToolCall
    intent: ToolIntended | None = None
    received: ToolReceived | None = None
    approval: ApprovalAsked | None = None
    answered: ApprovalAnswered | None = None
    question: UserAsked | None = None
    awaited: ResultAwaited | None = None
    allowed_by: str = ""
    """The rule that allowed the call before it asked the user something; the repeated call needs no new approval."""

    @property
    def open(self) -> bool:
        """Whether the call still has no result."""
        return self.received is None

    @property
    def blocked(self) -> bool:
        """Whether the call waits for a person or a program."""
        given = self.question is not None or self.awaited is not None
        return self.open and (given or (self.approval is not None and self.answered is None))


@dataclass(frozen=True, slots=True)
class FoldedTurn:
    """State of a turn after its steps so far."""

    turn: TurnId
    message: str = ""
    """Id of the message that opened the turn, which is the id people know it by."""
    background: bool = False
    rounds: int = 0
    asked: ModelAsked | None = None
    trust: Trust = Trust.TRUSTED
    reply: ModelReplied | None = None
    calls: tuple[CallState, ...] = ()
    failed: ModelFailed | None = None
    waiting: Waited | None = None
    waits: int = 0
    shortened: int = 0
    keep: int | None = None
    steered: bool = False
    cancelled: Cancelled | None = None
    stopped: Stopped | None = None
    said: Said | None = None
    history: tuple[SeenCall, ...] = ()
    warned: frozenset[str] = frozenset()
    format_failures: int = 0
    loop_refusals: int = 0
    words: str = ""
    done: frozenset[tuple[str, str]] = frozenset()
    """Tools and arguments of the successful calls."""


@dataclass(frozen=True, slots=True)
class AskModel:
    """Call the model, but not before this time (Unix seconds)."""

    not_before: float | None = None


@dataclass(frozen=True, slots=True)
class RunTools:
    """Check and run these calls, all at once."""

    calls: tuple[CallState, ...]


@dataclass(frozen=True, slots=True)
class WriteSteps:
    """Journal these steps, which follow from the state alone."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Park:
    """Release the session queue until an answer arrives."""

    on: WaitsFor
    line: str
    """Shown to people, and without marks to the model in later turns, so it never contains the model's own words."""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Say:
    """End the turn with this text."""

    text: str
    kind: OutboundKind
    state: TurnState
    reason: str = ""


Command = AskModel | RunTools | WriteSteps | Park | Say


def start(turn: Turn) -> FoldedTurn:
    """Return the state before the first step."""
    words = "\n".join(inbound.text for inbound in turn.inbounds)
    message = next((inbound.id for inbound in turn.inbounds), "")
    return FoldedTurn(turn.id, message, background=all(inbound.background for inbound in turn.inbounds), words=words)


def fold(state: FoldedTurn, step: Step) -> FoldedTurn:  # noqa: C901 - one case per kind of step
    """Return the state after one more step."""
    match step:
        case ModelAsked():
            return replace(
                state, asked=step, trust=step.trust, reply=None, calls=(), failed=None, waiting=None, steered=False
            )
        case ModelReplied():
            return replace(
                state,
                asked=None,
                reply=step,
                calls=tuple(CallState(call) for call in step.calls),
                rounds=state.rounds + 1,
                waits=0,
            )
        case ModelFailed():
            return replace(state, asked=None, failed=step)
        case Waited():
            return replace(state, failed=None, waiting=step, waits=state.waits + 1)
        case Shortened(keep):
            return replace(state, failed=None, keep=keep, shortened=state.shortened + 1)
        case ToolIntended(call):
            return _with_call(state, call.id, lambda old: replace(old, intent=step))
        case ToolReceived():
            return _with_result(state, step)
        case ApprovalAsked(call=call_id):
            return _with_call(state, call_id, lambda old: replace(old, approval=step, answered=None))
        case ApprovalAnswered(call=call_id):
            return _with_call(state, call_id, lambda old: replace(old, answered=step))
        case UserAsked(call_id):
            return _with_call(state, call_id, lambda old: replace(old, question=step))
        case ResultAwaited(call_id):
            return _with_call(state, call_id, lambda old: replace(old, awaited=step))
        case UserAnswered(call=call_id) if _repeats_call(state, call_id):
            return _with_call(state, call_id, _reset_call)
        case UserAnswered(call_id, _, text, label):
            return _with_result(state, ToolReceived(ToolResult(call_id, text, label)))
        case Steered():  # the new message is a reason to retry what failed
            return replace(state, steered=True, failed=None, words=f"{state.words}\n{step.text}")
        case Transcribed():
            return replace(state, words=f"{state.words}\n{step.text}")
        case Noted(_, about) if about in RETRACTING_NOTES:
            format_failures = state.format_failures + (about == ABOUT_FORM)
            return replace(state, warned=state.warned | {about}, reply=None, format_failures=format_failures)
        case Noted(_, about):
            return replace(state, warned=state.warned | {about}) if about else state
        case Cancelled():
            return replace(state, cancelled=step)
        case Stopped():
            return replace(state, stopped=step)
        case Said():
            return replace(state, said=step)


def decide(state: FoldedTurn, rules: TurnRules) -> Command:
    """Return the next command."""
    if (end := _end(state, rules)) is not None:
        return end
    if state.failed is not None:
        return _after_failure(state, state.failed, rules)
    if any(item.open for item in state.calls):
        return _continue_calls(state, rules)
    if state.reply is not None and not state.calls:
        return _after_reply(state, state.reply, rules)
    if (note := _loop_warning(state, rules)) is not None:
        return WriteSteps((note,))
    if state.rounds >= rules.max_rounds:
        text = say(Sentence.ITERATION_LIMIT, rules.language, rounds=state.rounds)
        return Say(text, OutboundKind.ERROR, TurnState.FAILED, "iteration_limit")
    return AskModel(state.waiting.until if state.waiting is not None else None)


def _end(state: FoldedTurn, rules: TurnRules) -> Say | None:
    if state.said is not None:
        done = TurnState.DONE if state.said.kind is OutboundKind.REPLY else TurnState.FAILED
        silent = state.said.kind is OutboundKind.NOTICE and not state.said.text
        ended = TurnState.CANCELLED if state.cancelled is not None else TurnState.SILENT if silent else done
        return Say(state.said.text, state.said.kind, ended, state.said.reason)
    if state.cancelled is not None:
        text = say_stopped(state.cancelled.reason, rules.language)
        return Say(text, OutboundKind.NOTICE, TurnState.CANCELLED, "cancelled")
    if state.stopped is not None:
        return Say(state.stopped.detail, OutboundKind.ERROR, TurnState.FAILED, state.stopped.reason)
    return None


def _after_failure(state: FoldedTurn, failed: ModelFailed, rules: TurnRules) -> Command:
    fault = ModelFault(failed.fault)
    if fault is ModelFault.CONTEXT_OVERFLOW and state.shortened < 2:
        return WriteSteps((Shortened(rules.window // 2 if state.shortened == 0 else 0),))
    if (
        state.background
        and fault in TRANSIENT_FAULTS
        and failed.retry_at is not None
        and state.waits < rules.wait_attempts
    ):
        return WriteSteps((Waited(failed.retry_at, failed.fault),))
    sentence = FAULT_SENTENCES[fault]
    if fault is ModelFault.RATE_LIMIT and failed.retry_after is not None:
        sentence = Sentence.MODEL_RATE_LIMIT_UNTIL
    values: Mapping[str, object] = {
        "detail": failed.detail,
        "wait": format_duration(failed.retry_after or 0, rules.language),
        "id": state.message or state.turn,
    }
    return Say(say(sentence, rules.language, **values), OutboundKind.ERROR, TurnState.FAILED, failed.fault)


ABOUT_UNAWAITED = "unawaited sub-agents"
"""The `about` of a note that sub-agents are still at work."""
RETRACTING_NOTES = frozenset({ABOUT_CLAIM, ABOUT_FORM, ABOUT_CHOICE, ABOUT_UNAWAITED})
"""Notes that discard the reply before them and ask the model for another."""
NO_REPLY = "NO_REPLY"
"""A reply that consists of this word means deliberate silence."""


def _after_reply(state: FoldedTurn, reply: ModelReplied, rules: TurnRules) -> Command:
    text = reply.text
    if text.strip() == NO_REPLY:
        return Say("", OutboundKind.NOTICE, TurnState.SILENT, "the model chose to say nothing")
    more = state.rounds < rules.max_rounds
    if more and (note := _missing_call(state, rules.terms)) is not None:
        return WriteSteps((note,))
    if rules.terms.form is not None:
        return _formatted_reply(state, text, rules.terms.form, rules)
    if rules.terms.stop:
        text = cut_at_stop_word(text, rules.terms.stop)
    claim = find_unbacked(text, state.words, [_effects_of(*made, rules) for made in state.done])
    if claim is not None and ABOUT_CLAIM not in state.warned and more:
        return WriteSteps((_correction_note(claim),))
    if reply.stop is StopReason.LENGTH:
        text = f"{text.rstrip()}\n\n{say(Sentence.REPLY_CUT, rules.language)}"
    if claim is not None:
        marked = say(Sentence.CLAIM_UNBACKED, rules.language, claim=claim.words)
        return Say(f"{text.rstrip()}\n\n{marked}", OutboundKind.REPLY, TurnState.DONE, "unbacked_claim")
    return Say(text, OutboundKind.REPLY, TurnState.DONE, "cut" if reply.stop is StopReason.LENGTH else "")


def _effects_of(tool: str, arguments: str, rules: TurnRules) -> frozenset[Effect]:
    """Return the effects that a call may have had.

    A call that only reads has no others, though it may send its query to a server. A tool that does more than reading
    without an effect on the world tells another session or a sub-agent something. A command without network access
    sends nothing.
    """
    spec, given = rules.tools.get(tool), parse_json_object(arguments) or {}
    if spec is None:
        return ALL_EFFECTS
    used = spec.used_by(given)
    if spec.tier is not Tier.READ and spec.effects <= READING:
        return spec.effects | {Effect.COMMUNICATES}
    if used.tier is Tier.READ or used.effects <= READING:
        return used.effects & READING
    confined = spec.roles is not None and spec.roles.runs and spec.roles.hosts
    offline = confined and not given.get("network") and not given.get("hosts")
    return spec.effects - {Effect.COMMUNICATES} if offline else spec.effects


def _missing_call(state: FoldedTurn, terms: ResponseOptions) -> Noted | None:
    """Return a note if the client requires a tool call and none was made."""
    wanted = {tool.name for tool in terms.tools} if terms.choice == "required" else {terms.choice}
    if (
        terms.choice == "auto"
        or ABOUT_CHOICE in state.warned
        or wanted & {name for name, _ in state.done} | wanted & {s.name for s in state.history}
    ):
        return None
    return Noted(
        f"Your answer was not given. Call {' or '.join(sorted(wanted))} first: it was asked for.", ABOUT_CHOICE
    )


def _formatted_reply(state: FoldedTurn, text: str, form: Mapping[str, Any], rules: TurnRules) -> Command:
    """Return the reply as JSON in the client's format, or ask for another attempt."""
    text, problem = parse_reply(text, form)
    if not problem:
        return Say(text, OutboundKind.REPLY, TurnState.DONE)
    if state.format_failures + 1 < MAX_FORMAT_ATTEMPTS and state.rounds < rules.max_rounds:
        told = f"Your answer was not given: {problem}. Answer again, with the JSON alone."
        return WriteSteps((Noted(told, ABOUT_FORM),))
    text = say(Sentence.FORM_UNMET, rules.language, problem=problem)
    return Say(text, OutboundKind.ERROR, TurnState.FAILED, "bad_format")


def _correction_note(claim: Claim) -> Noted:
    text = (
        f"Your answer was not shown. It says “{claim.words}”, but no tool call of this turn did that. Do it now with a "
        "tool, or answer again and say plainly that it is not done."
    )
    return Noted(text, ABOUT_CLAIM)


def _continue_calls(state: FoldedTurn, rules: TurnRules) -> Command:
    pending = [item for item in state.calls if item.open]
    if settled := _results_without_run(state, pending):
        return WriteSteps(settled)
    loop = _refuse_loop(state, pending, rules)
    if loop is not None:
        return loop
    first = pending[0]
    if first.blocked:
        return _park(state.turn, first, rules)
    group = [first]
    if first.call.name in rules.parallel:
        for item in pending[1:]:
            if item.blocked or item.call.name not in rules.parallel:
                break
            group.append(item)
    return RunTools(tuple(group))


def _results_without_run(state: FoldedTurn, pending: list[CallState]) -> tuple[Step, ...]:
    """Return results of calls that will not run: lost in a crash, refused, or overtaken by a new message."""
    settled: list[Step] = []
    for item in pending:
        if item.question is not None or item.awaited is not None:
            continue
        if item.intent is not None and item.intent.restart is Restart.NEVER:
            settled.append(unknown_outcome(item.call))
        elif item.answered is not None and not item.answered.allowed:
            text = "The owner did not allow this call." if item.answered.by else "Nobody allowed this call in time."
            settled.append(substitute_result(item.call.id, text, "denied"))
        elif state.steered and item.intent is None and not item.blocked:
            text = "Not run: a new message from the user came first. Read it, then decide whether this is still wanted."
            settled.append(substitute_result(item.call.id, text, "skipped"))
    return tuple(settled)


def unknown_outcome(call: ToolCall) -> ToolReceived:
    """Return the result the model receives for a call that a crash interrupted."""
    text = (
        f"Hob stopped unexpectedly while {call.name} was running. Whether it took effect is unknown, and "
        "it was not tried again. Find out (without changing anything) before you repeat it."
    )
    return substitute_result(call.id, text, "unknown_outcome")


def substitute_result(call: CallId, text: str, status: str) -> ToolReceived:
    """Return a result written by Hob in place of the tool's."""
    return ToolReceived(ToolResult(call, text, HOB_LABEL, is_error=True), status=status)


def _park(turn: TurnId, item: CallState, rules: TurnRules) -> Park:
    if item.question is not None:
        line = say(Sentence.WAITS_FOR_ANSWER, rules.language, id=turn)
        return Park(WaitsFor.ANSWER, line)
    if item.awaited is not None:
        on = WaitsFor(item.awaited.on)
        sentence = Sentence.WAITS_FOR_CHILDREN if on is WaitsFor.CHILD else Sentence.WAITS_FOR_PROGRAM
        return Park(on, say(sentence, rules.language), item.awaited.until)
    reason = item.approval.reason if item.approval is not None else ""
    line = say(Sentence.WAITS_FOR_APPROVAL, rules.language, tool=item.call.name, reason=reason)
    return Park(WaitsFor.APPROVAL, line)


def _refuse_loop(state: FoldedTurn, pending: list[CallState], rules: TurnRules) -> Command | None:
    """Refuse a call that loops; end the turn if one was refused in an earlier round."""
    refused: list[Step] = []
    for item in pending:
        if item.intent is not None or item.approval is not None:
            continue
        found = find_loop(state.history, item.call.name, signature_of(item.call), rules.loops)
        if found is None or found.level is Level.WARNING:
            continue
        if found.level is Level.BREAKER or state.loop_refusals:
            text = say(Sentence.LOOP_ENDED, rules.language, detail=_describe_loop(found))
            return Say(text, OutboundKind.ERROR, TurnState.FAILED, "loop")
        circle = _describe_loop(found)
        text = f"Refused: {circle} and nothing changed. Do something else, or tell the user what is in the way."
        refused.append(substitute_result(item.call.id, text, "loop"))
    return WriteSteps(tuple(refused)) if refused else None


def _loop_warning(state: FoldedTurn, rules: TurnRules) -> Noted | None:
    if not state.history:
        return None
    last = state.history[-1]
    found = find_loop(state.history, last.name, last.signature, rules.loops)
    if found is None or found.about in state.warned:
        return None
    return Noted(
        f"Note: {_describe_loop(found)}. Unless you wait for something, try another way or answer now.", found.about
    )


def _describe_loop(found: LoopFinding) -> str:
    match found.detector:
        case "ping_pong":
            return f"{found.count} calls went back and forth between the same two"
        case "unknown_tool":
            return f"{found.name}, which is not among your tools, was called {found.count} times"
        case "no_progress":
            return f"{found.count} calls brought nothing new"
        case _:
            return f"{found.name} was called {found.count} times with the same arguments"


def _with_call(state: FoldedTurn, call: CallId, change: Callable[[CallState], CallState]) -> FoldedTurn:
    return replace(state, calls=tuple(change(item) if item.call.id == call else item for item in state.calls))


def _repeats_call(state: FoldedTurn, call: CallId) -> bool:
    return any(item.call.id == call and item.question is not None and item.question.again for item in state.calls)


def _reset_call(item: CallState) -> CallState:
    """Reset the call so that it runs again as before."""
    made = item.intent
    return CallState(item.call) if made is None else CallState(made.call, allowed_by=made.rule)


def _with_result(state: FoldedTurn, received: ToolReceived) -> FoldedTurn:
    now = _with_call(state, received.result.call, lambda old: replace(old, received=received))
    if received.status == "loop":
        return replace(now, loop_refusals=state.loop_refusals + 1)
    if received.status not in COUNTED_STATUSES:
        return now
    made = next((item for item in state.calls if item.call.id == received.result.call), None)
    if made is None:
        return now
    if received.status == "ok" and not received.result.is_error:
        now = replace(now, done=state.done | {(made.call.name, made.call.arguments)})
    item = seen(made.call, received.result.text, unknown=received.status in UNKNOWN_TOOL_STATUSES)
    return replace(now, history=(*state.history, item)[-MAX_HISTORY:])
