"""Calling the model: prompt, hooks, budget, the stream and its watchdog."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from hob.agent.budget.accounting import stream_in_turn
from hob.agent.budget.budget import Reservation
from hob.agent.commands.model_names import real_name
from hob.agent.ports import can_route
from hob.agent.prompt.system import Prompt
from hob.agent.prompt.window import load_limit
from hob.agent.remarks import remarks_of, render
from hob.agent.sessions import can_reset, reset_due
from hob.agent.turn.arguments import normalize_arguments
from hob.agent.turn.client_terms import tools_of_turn
from hob.agent.turn.dependencies import Stopwatch
from hob.agent.turn.recordings import transcribe_recordings
from hob.agent.turn.run_state import TurnRun, request_hash
from hob.agent.turn.tool_calls import clean
from hob.agent.turn.turn import TRANSIENT_FAULTS
from hob.core.clock import ended_by
from hob.core.errors import BudgetExceeded, ModelError, ModelFault
from hob.core.events.hooks import AfterModel, BeforeModel
from hob.core.events.notices import Delta, Progress, Retracted
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import CallId, TraceId
from hob.core.models import (
    CallStarted,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    Remark,
    Route,
    StopReason,
    TextDelta,
)
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, RecalledMemory, Stopped
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable
from hob.core.translation.sentences import Sentence, format_duration, say
from hob.core.trust.labels import SenderClass
from hob.core.turns import TranscriptView

_POLL_SECONDS = 1.0  # polling interval for joining messages while the model is silent for long
_FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS = 30.0, 900.0  # seconds background work waits if the server names no time


async def ask_model(run: TurnRun) -> None:
    """Make one model call, from building the prompt to journalling the reply or failure."""
    record, deps = run.record, run.deps
    if record.steps:
        await run.steer()
        await transcribe_recordings(run)  # of messages that just joined
    watch, state = Stopwatch.start(deps.clock), _StreamState()
    try:
        run.requested_model = run.requested_model or await real_name(deps.model, run.model)
        prompt = await _build_prompt(run)
        route = await _choose_route(run, prompt.request)
    except ModelError as error:  # no model connected, server unreachable, or the prompt cannot fit
        _record_failure(run, run.requested_model or run.model, watch, error, state)
        return
    if route is None:
        return
    estimate = prompt.input_estimate
    run.requested_model, run.prompt_tokens = route.request.first, estimate
    await record.flush_costs()
    try:
        async with deps.budget.reserve_for_turn(run.turn, route.request, estimate, run.joined) as held:
            run.requested_model = held.request.first
            for remark in (*prompt.remarks, *await _outline_remarks(run), *route.remarks, *held.remarks):
                _publish_remark(run, state, remark)  # published now, so that they survive a lost reply
            record.add(_announcement(prompt, held, state.take()))
            await record.flush(held.request)
    except BudgetExceeded as error:
        record.add(Stopped("budget", str(error)))
        return
    await _stream_answer(run, held, state)


def _announcement(prompt: Prompt, held: Reservation, remarks: tuple[str, ...]) -> ModelAsked:
    request = held.request
    return ModelAsked(
        model=request.first,
        request_hash=request_hash(request),
        input_estimate=prompt.input_estimate,
        reserved=held.worst,
        trust=prompt.trust,
        models=request.models,
        remarks=remarks,
        sections=tuple((part.name, part.bytes, part.tokens, part.cached) for part in prompt.sections),
        recalled=tuple(RecalledMemory(each.id, each.relevance, each.parts) for each in prompt.memories),
        ends=prompt.ends,
    )


async def _outline_remarks(run: TurnRun) -> list[Remark]:
    """Tell the owner, once per session, that no model could write the session's summary."""
    summary = run.view.summary if run.view is not None else None
    senders = {inbound.sender.cls for inbound in (*run.turn.inbounds, *run.joined)}
    if summary is None or summary.model or senders != {SenderClass.OWNER}:
        return []
    news = await run.deps.budget.ledger.note_once(f"outline {run.turn.session}", 0.0)
    return [Remark(Sentence.SUMMARY_OUTLINED)] if news else []


async def _choose_route(run: TurnRun, request: ModelRequest) -> Route | None:
    """Choose the request's route from turn, hooks and router; return None if a hook denied the call.

    A turn continues with the models it began with; a hook's choice holds for one call. Raises ModelError.
    """
    deps, model, by_hook = run.deps, run.deps.model, False
    request = replace(request, thinking=run.session.thinking)
    if can_route(model):  # the prompt was built for the resolved model; the request carries the chosen name
        request = replace(request, model=run.model, models=run.chain)
    if deps.hooks:
        decided = await deps.hooks.decide(BeforeModel(run.turn, request))
        if decided.denied is not None:
            run.record.add(_stopped_by_hook(run, decided.denied))
            return None
        if decided.model is not None:
            request, by_hook = replace(request, model=decided.model, models=()), True
    if not can_route(model):
        return Route(request)
    route = await model.route(request)
    if not by_hook:
        run.chain = route.request.models
    return route


async def _build_prompt(run: TurnRun) -> Prompt:
    settings, state = run.deps.settings, run.record.state
    if run.view is None:
        run.view = await _load_view(run)
    return await run.deps.prompts.build(
        run.turn,
        run.record.steps,
        run.view,
        tools_of_turn(run.deps.toolset, run.turn).specs(),
        run.requested_model or run.model,
        keep=state.keep,
        patience=settings.background_patience_seconds if state.background else settings.patience_seconds,
    )


async def _load_view(run: TurnRun) -> TranscriptView:
    """Load the session's history; empty if the session is due for a reset."""
    deps, session = run.deps, run.turn.session
    view = await deps.transcript.load_view(session, load_limit(deps.settings))
    if not can_reset(deps.settings) or run.record.steps or not view.entries:
        return view
    known = await deps.sessions.get(session)
    # `updated` is already the arrival of this message; the last entry is what counts.
    reason = reset_due(replace(known, updated=view.entries[-1].at), deps.clock.now(), deps.settings)
    if reason is None:
        return view
    await deps.sessions.reset(session, reason)
    return await deps.transcript.load_view(session, load_limit(deps.settings))


async def _stream_answer(run: TurnRun, held: Reservation, state: "_StreamState") -> None:
    """Stream the reply and journal it, or the reason for its absence."""
    watch, request = Stopwatch.start(run.deps.clock), held.request
    try:
        reply = _check_reply(await _stream(run, held, watch, state), request.first)
    except BudgetExceeded as error:  # the failed attempts left nothing for another
        _record_failure(run, request.first, watch, ModelError(ModelFault.BUDGET, str(error), cost=0), state)
        run.record.add(Stopped("budget", str(error)))
        return
    except ModelError as error:
        if error.fault is ModelFault.CONTEXT_OVERFLOW:
            now = run.deps.clock.now().timestamp()
            await run.deps.context_room.learn(request.first, run.prompt_tokens, request.max_tokens, str(error), now)
        _record_failure(run, request.first, watch, error, state)
        if error.fault is ModelFault.TIMEOUT:
            await run.steer()  # messages that arrived meanwhile are a reason to call the model again
        return
    if run.deps.hooks:
        decided = await run.deps.hooks.decide(AfterModel(run.turn, reply))
        if decided.denied is not None:
            state.reply = reply
            _record_failure(
                run,
                request.first,
                watch,
                ModelError(ModelFault.FILTERED, translatable("{model}: denied by a hook", model=request.first)),
                state,
            )
            run.record.add(_stopped_by_hook(run, decided.denied))
            return
    if reply.calls:  # the round's entry holds its text
        run.streamed.clear()
    cost = run.deps.budget.cost_of_reply(request.first, reply)
    model = reply.model or request.first
    event = watch.event(run.turn, EventKind.MODEL, reply.ref or model, "ok", reply.usage, cost)
    step = ModelReplied(
        text=clean(reply.text),
        calls=reply.calls,
        stop=reply.stop,
        usage=reply.usage,
        model=model,
        cost=cost,
        reasoning=clean(reply.reasoning),
        attempts=reply.attempts,
        ref=reply.ref,
        continuation=reply.continuation,
        remarks=tuple(state.remarks),
        sent=reply.sent,
    )
    run.record.add(step, _with_remarks(event, state))


class _StreamState:
    """Output of one call so far: visible text, remarks, and the reply."""

    __slots__ = ("before", "remarks", "reply", "shown")

    def __init__(self) -> None:
        self.shown = False
        self.before: tuple[str, ...] = ()
        self.remarks: list[str] = []
        self.reply: ModelReply | None = None

    def take(self) -> tuple[str, ...]:
        """Return the remarks so far, which are journalled before the call, and start a new list."""
        self.before, self.remarks = tuple(self.remarks), []
        return self.before


def _publish_remark(run: TurnRun, state: _StreamState, remark: Remark) -> None:
    """Publish the remark and keep it for the step, unless this turn has already shown it."""
    line = render(remark, run.deps.settings.language)
    if line and line not in state.remarks and line not in remarks_of(run.record.steps):
        state.remarks.append(line)
        run.deps.notices.publish(Progress(run.turn.trace, run.turn.session, "remark", text=line))


def _with_remarks(event: TimelineEvent, state: _StreamState) -> TimelineEvent:
    told = (*state.before, *state.remarks)
    return replace(event, text="\n".join(told)) if told else event


async def _stream(run: TurnRun, held: Reservation, watch: Stopwatch, state: _StreamState) -> ModelReply:
    """Return the reply, publishing its pieces as they arrive. Raises ModelError, BudgetExceeded."""
    trace, session = run.turn.trace, run.turn.session
    run.streamed.clear()
    publish, monotonic = run.deps.notices.publish, run.deps.clock.monotonic

    def event_of(ref: str, status: str) -> TimelineEvent:
        return watch.event(run.turn, EventKind.MODEL, ref, status)

    async with (
        _watch_silence(run) as watchdog,
        aclosing(stream_in_turn(run.deps.budget, run.deps.model, held, event_of)) as events,
    ):
        async for event in events:
            watchdog.last = monotonic()
            match event:
                case TextDelta(text):
                    state.shown = True
                    run.streamed.append(text)
                    publish(Delta(trace, session, text))
                case ReasoningDelta(text):
                    publish(Delta(trace, session, text, reasoning=True))
                case ModelReply():
                    state.reply = event
                case CallStarted(name):
                    publish(Progress(trace, session, "call", name))
                case Remark():
                    _publish_remark(run, state, event)
                case _:
                    pass
    if state.reply is None:
        raise ModelError(
            ModelFault.CUT, translatable("{model}: the stream ended without an answer", model=held.request.first)
        )
    return state.reply


class _Watchdog:
    """Time of the last event from the model (monotonic seconds)."""

    __slots__ = ("last",)

    def __init__(self, last: float) -> None:
        self.last = last


@asynccontextmanager
async def _watch_silence(run: TurnRun) -> AsyncIterator[_Watchdog]:
    """Watch a model call: report a long silence, and cancel the call after a longer one.

    A silent call is cancelled early if a message arrived that may join the turn; the sender of any other message is
    informed of the wait. A single timer compares timestamps, so an event of the stream costs only one assignment.
    Raises ModelError(TIMEOUT).
    """
    clock, settings = run.deps.clock, run.deps.settings
    watchdog = _Watchdog(clock.monotonic())
    last_moment = watchdog.last + run.seconds_left

    async def silence() -> None:
        noticed, told = -1.0, 0
        while True:
            now = clock.monotonic()
            silent = now - watchdog.last
            if silent >= settings.idle_seconds or now >= last_moment:
                return
            bound = min(settings.idle_seconds, settings.idle_notice_seconds)
            if silent >= settings.idle_notice_seconds:
                if run.control.joinable():
                    _notice_silence(run, silent, Sentence.ASKED_AGAIN)
                    return
                if noticed != watchdog.last:
                    noticed = watchdog.last
                    _notice_silence(run, silent, Sentence.STILL_WAITING)
                for inbound in run.control.followups()[told:]:
                    _notice_silence(run, silent, Sentence.BEHIND_SILENCE, inbound.trace)
                    told += 1
                bound = min(settings.idle_seconds, silent + _POLL_SECONDS)
            await clock.sleep(max(0.001, min(watchdog.last + bound, last_moment) - now))

    try:
        async with ended_by(silence):
            yield watchdog
    except TimeoutError as error:
        why = translatable("nothing came for {seconds:g} seconds", seconds=round(clock.monotonic() - watchdog.last))
        why = why if clock.monotonic() < last_moment else translatable("the turn's time is up")
        said = translatable("{model}: {why}", model=run.requested_model, why=why)
        raise ModelError(ModelFault.TIMEOUT, said) from error


def _notice_silence(run: TurnRun, silent: float, sentence: Sentence, trace: TraceId | None = None) -> None:
    language = run.deps.settings.language
    text = say(sentence, language, wait=format_duration(round(silent), language))
    run.deps.notices.publish(Progress(trace or run.turn.trace, run.turn.session, "waiting", run.requested_model, text))


def _check_reply(reply: ModelReply, asked: str) -> ModelReply:
    """Return the reply with calls ready to be journalled. Raises ModelError if it contains no answer."""
    who = reply.ref or asked
    if reply.stop is StopReason.FILTER:
        raise ModelError(
            ModelFault.FILTERED,
            translatable("{model}: the provider's content filter", model=who),
            attempts=reply.attempts,
        )
    if not reply.calls:
        if not reply.text.strip():
            raise ModelError(
                ModelFault.EMPTY,
                translatable("{model}: neither text nor a call came", model=who),
                attempts=reply.attempts,
            )
        return reply
    calls: list[ToolCall] = []
    ids: set[str] = set()
    for place, call in enumerate(reply.calls):
        id = call.id if call.id and call.id not in ids else CallId(f"{call.id or 'call'}_{place}")
        ids.add(id)
        whole = (
            reply.stop is not StopReason.LENGTH
        )  # repairing a truncated answer would complete its last argument wrongly
        calls.append(ToolCall(id, clean(call.name), normalize_arguments(clean(call.arguments), repair=whole)))
    return replace(reply, calls=tuple(calls))


def _record_failure(run: TurnRun, model: str, watch: Stopwatch, error: ModelError, state: _StreamState) -> None:
    record, turn = run.record, run.turn
    if state.shown:
        run.streamed.clear()
        run.deps.notices.publish(Retracted(turn.trace, turn.session))
    retry_at = None
    if error.fault in TRANSIENT_FAULTS:
        wait = error.retry_after
        if wait is None:
            wait = min(_MAX_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2**record.state.waits)
        retry_at = run.deps.clock.now().timestamp() + wait
    if state.reply is not None:
        usage, cost = state.reply.usage, run.deps.budget.cost_of_reply(model, state.reply)
    else:
        usage, cost = error.usage, error.cost
        if usage is not None and cost is None:
            cost = run.deps.budget.cost_of(model, usage)
    fault = error.fault.value
    step = ModelFailed(
        fault=fault,
        detail=clean(str(error)),
        attempts=error.attempts,
        retry_at=retry_at,
        retry_after=error.retry_after,
        usage=usage,
        cost=cost,
        remarks=tuple(state.remarks),
    )
    record.add(step, _with_remarks(watch.event(turn, EventKind.MODEL, model, fault, usage, cost), state))
    if run.seconds_left <= 0:
        record.add(out_of_time(run))


def out_of_time(run: TurnRun) -> Stopped:
    """Return the step that ends a run which exceeded its time limit."""
    settings = run.deps.settings
    text = say(
        Sentence.RUN_TIMEOUT, settings.language, wait=format_duration(round(settings.run_seconds), settings.language)
    )
    return Stopped("run_timeout", text)


def _stopped_by_hook(run: TurnRun, reason: str) -> Stopped:
    return Stopped("hook", say(Sentence.HOOK_DENIED, run.deps.settings.language, detail=reason))
