"""Asking the model: prompt, hooks, budget, the stream and its watchdog."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from hob.agent.budget.accounting import stream_in_turn
from hob.agent.budget.budget import HeldAmount
from hob.agent.commands.model_names import real_name
from hob.agent.ports import can_route
from hob.agent.prompt.system import Prompt
from hob.agent.prompt.window import load_limit
from hob.agent.remarks import remarks_of, render
from hob.agent.sessions import reset_due, resets
from hob.agent.turn.arguments import tidy
from hob.agent.turn.client_terms import tools_of_turn
from hob.agent.turn.dependencies import Stopwatch
from hob.agent.turn.recordings import write_down
from hob.agent.turn.run_state import TurnRun, request_hash
from hob.agent.turn.tool_calls import clean
from hob.agent.turn.turn import WAITABLE
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
    Stop,
    TextDelta,
)
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, RecalledMemory, Stopped
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable
from hob.core.translation.sentences import Sentence, say, span
from hob.core.trust.labels import SenderClass
from hob.core.turns import View

_LOOK_SECONDS = 1.0  # polling interval for joining messages while the model is silent for long
_FIRST_WAIT, _LONGEST_WAIT = 30.0, 900.0  # seconds background work waits if the server names no time


async def ask(run: TurnRun) -> None:
    """Make one model call, from building the prompt to journalling the reply or failure."""
    record, parts = run.record, run.parts
    if record.steps:
        await run.steer()
        await write_down(run)  # of messages that just joined
    watch, heard = Stopwatch.start(parts.clock), _StreamState()
    try:
        run.requested_model = run.requested_model or await real_name(parts.model, run.model)
        prompt = await _build(run)
        route = await _choose(run, prompt.request)
    except ModelError as error:  # no model connected, server unreachable, or the prompt cannot fit
        _fail(run, run.requested_model or run.model, watch, error, heard)
        return
    if route is None:
        return
    estimate = prompt.input_estimate
    run.requested_model, run.prompt_tokens = route.request.first, estimate
    await record.settle()
    try:
        async with parts.budget.reserved(run.turn, route.request, estimate, run.joined) as held:
            request = held.request
            run.requested_model, models = request.first, request.models
            news = (*prompt.remarks, *await _outlined(run), *route.remarks, *held.remarks)
            for remark in news:  # published now, so that they survive a lost reply
                _tell(run, heard, remark)
            told = heard.take()
            parts_of = tuple((part.name, part.bytes, part.tokens, part.cached) for part in prompt.sections)
            recalled = tuple(RecalledMemory(each.id, each.relevance, each.parts) for each in prompt.memories)
            record.add(
                ModelAsked(
                    request.first,
                    request_hash(request),
                    estimate,
                    held.worst,
                    prompt.trust,
                    models,
                    told,
                    parts_of,
                    recalled,
                    prompt.ends,
                )
            )
            await record.flush(request)
    except BudgetExceeded as error:
        record.add(Stopped("budget", str(error)))
        return
    await _stream_answer(run, held, heard)


async def _outlined(run: TurnRun) -> list[Remark]:
    """Tell the owner, once a session, that no model could write the session's summary."""
    summary = run.view.summary if run.view is not None else None
    senders = {inbound.sender.cls for inbound in (*run.turn.inbounds, *run.joined)}
    if summary is None or summary.model or senders != {SenderClass.OWNER}:
        return []
    news = await run.parts.budget.ledger.note_once(f"outline {run.turn.session}", 0.0)
    return [Remark(Sentence.SUMMARY_OUTLINED)] if news else []


async def _choose(run: TurnRun, request: ModelRequest) -> Route | None:
    """Choose the request's route from the turn's model, the hooks and the router; None if a hook denied the call.

    A turn continues with the models it began with; a hook's choice holds for one call. Raises ModelError.
    """
    parts, model, by_hook = run.parts, run.parts.model, False
    request = replace(request, thinking=run.session.thinking)
    if can_route(model):  # the prompt was built for the resolved model; the request carries the chosen name
        request = replace(request, model=run.model, models=run.chain)
    if parts.hooks:
        decided = await parts.hooks.decide(BeforeModel(run.turn, request))
        if decided.denied is not None:
            run.record.add(_denied(run, decided.denied))
            return None
        if decided.model is not None:
            request, by_hook = replace(request, model=decided.model, models=()), True
    if not can_route(model):
        return Route(request)
    route = await model.route(request)
    if not by_hook:
        run.chain = route.request.models
    return route


async def _build(run: TurnRun) -> Prompt:
    settings, state = run.parts.settings, run.record.state
    if run.view is None:
        run.view = await _load_view(run)
    return await run.parts.prompts.build(
        run.turn,
        run.record.steps,
        run.view,
        tools_of_turn(run.parts.toolset, run.turn).specs(),
        run.requested_model or run.model,
        keep=state.keep,
        patience=settings.background_patience_seconds if state.background else settings.patience_seconds,
    )


async def _load_view(run: TurnRun) -> View:
    """Load the session's history; empty if the session is due for a reset."""
    parts, session = run.parts, run.turn.session
    view = await parts.transcript.load_view(session, load_limit(parts.settings))
    if not resets(parts.settings) or run.record.steps or not view.entries:
        return view
    known = await parts.sessions.get(session)
    # `updated` is already the arrival of this message; the last entry is what counts.
    reason = reset_due(replace(known, updated=view.entries[-1].at), parts.clock.now(), parts.settings)
    if reason is None:
        return view
    await parts.sessions.reset(session, reason)
    return await parts.transcript.load_view(session, load_limit(parts.settings))


async def _stream_answer(run: TurnRun, held: HeldAmount, state: "_StreamState") -> None:
    """Stream the reply and journal it, or the reason for its absence."""
    watch, request = Stopwatch.start(run.parts.clock), held.request
    try:
        reply = _checked(await _listen(run, held, watch, state), request.first)
    except BudgetExceeded as error:  # the failed attempts left nothing for another
        _fail(run, request.first, watch, ModelError(ModelFault.BUDGET, str(error), cost=0), state)
        run.record.add(Stopped("budget", str(error)))
        return
    except ModelError as error:
        if error.fault is ModelFault.CONTEXT_OVERFLOW:
            now = run.parts.clock.now().timestamp()
            await run.parts.context_room.learn(request.first, run.prompt_tokens, request.max_tokens, str(error), now)
        _fail(run, request.first, watch, error, state)
        if error.fault is ModelFault.TIMEOUT:
            await run.steer()  # messages that arrived meanwhile are a reason to ask again
        return
    if run.parts.hooks:
        decided = await run.parts.hooks.decide(AfterModel(run.turn, reply))
        if decided.denied is not None:
            state.reply = reply
            _fail(
                run,
                request.first,
                watch,
                ModelError(ModelFault.FILTERED, translatable("{model}: denied by a hook", model=request.first)),
                state,
            )
            run.record.add(_denied(run, decided.denied))
            return
    if reply.calls:  # the round's entry holds its text
        run.streamed.clear()
    cost = run.parts.budget.cost_of_reply(request.first, reply)
    model = reply.model or request.first
    event = watch.event(run.turn, EventKind.MODEL, reply.ref or model, "ok", reply.usage, cost)
    run.record.add(
        ModelReplied(
            clean(reply.text),
            reply.calls,
            reply.stop,
            reply.usage,
            model,
            cost,
            clean(reply.reasoning),
            reply.attempts,
            reply.ref,
            reply.continuation,
            tuple(state.remarks),
            reply.sent,
        ),
        _with_remarks(event, state),
    )


class _StreamState:
    """What one call has produced so far: visible text, remarks, and the reply."""

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


def _tell(run: TurnRun, state: _StreamState, remark: Remark) -> None:
    """Publish the remark and keep it for the step, unless this turn has already shown it."""
    line = render(remark, run.parts.settings.language)
    if line and line not in state.remarks and line not in remarks_of(run.record.steps):
        state.remarks.append(line)
        run.parts.notices.publish(Progress(run.turn.trace, run.turn.session, "remark", text=line))


def _with_remarks(event: TimelineEvent, state: _StreamState) -> TimelineEvent:
    told = (*state.before, *state.remarks)
    return replace(event, text="\n".join(told)) if told else event


async def _listen(run: TurnRun, held: HeldAmount, watch: Stopwatch, state: _StreamState) -> ModelReply:
    """Return the reply, publishing its pieces as they arrive. Raises ModelError, BudgetExceeded."""
    trace, session = run.turn.trace, run.turn.session
    run.streamed.clear()
    publish, monotonic = run.parts.notices.publish, run.parts.clock.monotonic

    def event_of(ref: str, status: str) -> TimelineEvent:
        return watch.event(run.turn, EventKind.MODEL, ref, status)

    async with (
        _watched(run) as watchdog,
        aclosing(stream_in_turn(run.parts.budget, run.parts.model, held, event_of)) as events,
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
                    _tell(run, state, event)
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
async def _watched(run: TurnRun) -> AsyncIterator[_Watchdog]:
    """Watch a model call: report a long silence, and cancel the call after a longer one.

    A silent call is cancelled early if a message arrived that may join the turn; the sender of any other message is
    told about the wait. A single timer compares timestamps, so an event of the stream costs only one assignment. Raises
    ModelError(TIMEOUT).
    """
    loop = asyncio.get_running_loop()
    clock, settings = run.parts.clock, run.parts.settings
    watchdog = _Watchdog(clock.monotonic())
    last_moment = watchdog.last + run.seconds_left
    error: BaseException | None = None
    try:
        async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as group:

            async def watch() -> None:
                noticed, told = -1.0, 0
                while True:
                    now = clock.monotonic()
                    silent = now - watchdog.last
                    if silent >= settings.idle_seconds or now >= last_moment:
                        limit.reschedule(loop.time())
                        return
                    bound = min(settings.idle_seconds, settings.idle_notice_seconds)
                    if silent >= settings.idle_notice_seconds:
                        if run.control.joinable():
                            _notice_silence(run, silent, Sentence.ASKED_AGAIN)
                            limit.reschedule(loop.time())
                            return
                        if noticed != watchdog.last:
                            noticed = watchdog.last
                            _notice_silence(run, silent, Sentence.STILL_WAITING)
                        for inbound in run.control.followups()[told:]:
                            _notice_silence(run, silent, Sentence.BEHIND_SILENCE, inbound.trace)
                            told += 1
                        bound = min(settings.idle_seconds, silent + _LOOK_SECONDS)
                    await clock.sleep(max(0.001, min(watchdog.last + bound, last_moment) - now))

            timer = group.create_task(watch())
            try:
                yield watchdog
            finally:
                timer.cancel()
    except TimeoutError:
        why = translatable("nothing came for {seconds:g} seconds", seconds=round(clock.monotonic() - watchdog.last))
        why = why if clock.monotonic() < last_moment else translatable("the turn's time is up")
        error = ModelError(ModelFault.TIMEOUT, translatable("{model}: {why}", model=run.requested_model, why=why))
    except BaseExceptionGroup as errors:  # the block's own error, wrapped by the group
        error = errors.exceptions[0]
    if error is not None:
        raise error


def _notice_silence(run: TurnRun, silent: float, sentence: Sentence, trace: TraceId | None = None) -> None:
    language = run.parts.settings.language
    text = say(sentence, language, wait=span(round(silent), language))
    run.parts.notices.publish(Progress(trace or run.turn.trace, run.turn.session, "waiting", run.requested_model, text))


def _checked(reply: ModelReply, asked: str) -> ModelReply:
    """Return the reply with calls ready to be journalled. Raises ModelError if it contains no answer."""
    who = reply.ref or asked
    if reply.stop is Stop.FILTER:
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
        whole = reply.stop is not Stop.LENGTH  # repairing a truncated answer would complete its last argument wrongly
        calls.append(ToolCall(id, clean(call.name), tidy(clean(call.arguments), repair=whole)))
    return replace(reply, calls=tuple(calls))


def _fail(run: TurnRun, model: str, watch: Stopwatch, error: ModelError, state: _StreamState) -> None:
    record, turn = run.record, run.turn
    if state.shown:
        run.streamed.clear()
        run.parts.notices.publish(Retracted(turn.trace, turn.session))
    retry_at = None
    if error.fault in WAITABLE:
        wait = error.retry_after
        if wait is None:
            wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2**record.state.waits)
        retry_at = run.parts.clock.now().timestamp() + wait
    if state.reply is not None:
        usage, cost = state.reply.usage, run.parts.budget.cost_of_reply(model, state.reply)
    else:
        usage, cost = error.usage, error.cost
        if usage is not None and cost is None:
            cost = run.parts.budget.cost_of(model, usage)
    fault, told = error.fault.value, tuple(state.remarks)
    step = ModelFailed(fault, clean(str(error)), error.attempts, retry_at, error.retry_after, usage, cost, told)
    record.add(step, _with_remarks(watch.event(turn, EventKind.MODEL, model, fault, usage, cost), state))
    if run.seconds_left <= 0:
        record.add(out_of_time(run))


def out_of_time(run: TurnRun) -> Stopped:
    """Return the step that ends a run which exceeded its time limit."""
    settings = run.parts.settings
    text = say(Sentence.RUN_TIMEOUT, settings.language, wait=span(round(settings.run_seconds), settings.language))
    return Stopped("run_timeout", text)


def _denied(run: TurnRun, reason: str) -> Stopped:
    return Stopped("hook", say(Sentence.HOOK_DENIED, run.parts.settings.language, detail=reason))
