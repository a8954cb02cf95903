"""The turn driver: performs what the fold decides, through ports, and journals the outcome."""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import replace
from typing import assert_never

from hob.agent.commands.model_names import chosen_name
from hob.agent.turn.client_terms import terms_of, tools_of_turn
from hob.agent.turn.dependencies import Stopwatch, TurnDependencies
from hob.agent.turn.ending import build_finish
from hob.agent.turn.loops import LoopRules
from hob.agent.turn.model_call import ask_model, out_of_time
from hob.agent.turn.questions import add_questions, receive_answers
from hob.agent.turn.recordings import transcribe_recordings
from hob.agent.turn.run_state import Record, TurnRun, Unsaved
from hob.agent.turn.tool_calls import ToolCalls, publish_skipped_call
from hob.agent.turn.turn import (
    RETRACTING_NOTES,
    AskModel,
    CallState,
    Park,
    RunTools,
    Say,
    TurnRules,
    WriteSteps,
    decide,
    substitute_result,
)
from hob.agent.turn.unawaited import mind_unawaited
from hob.core.errors import StoreError
from hob.core.events.hooks import AfterTurn, BeforeTurn
from hob.core.events.notices import Progress, Retracted, Settled
from hob.core.ids import TurnId
from hob.core.messages import OutboundKind
from hob.core.ports.turns import TurnControl
from hob.core.states import TurnState
from hob.core.steps import Cancelled, Noted, Steered, Step, Stopped, ToolIntended, ToolReceived
from hob.core.translation.sentences import Sentence, say, say_stopped
from hob.core.turns import Finish, Finished, Outcome, Parked, Turn, WaitsFor

log = logging.getLogger(__name__)

_UNSAVED_TURNS = 256  # turns with unwritten steps that are remembered; far more than run at once


class Driver:
    """Implements the port `Turns`."""

    def __init__(self, deps: TurnDependencies) -> None:
        self._deps = deps
        # Steps whose write failed (a full disk). They are written when the turn runs again, so that no completed call
        # is forgotten, and kept until then, because that run may fail or be cancelled too.
        self._unsaved: OrderedDict[TurnId, Unsaved] = OrderedDict()

    async def run(self, turn: Turn, control: TurnControl) -> Outcome:
        """Run or resume the turn; the port describes cancellation. Raises StoreErrors."""
        run: TurnRun | None = None
        try:
            try:
                run = await self._begin(turn, control)
                return await self._perform(run)
            except asyncio.CancelledError:
                reason = control.stop_reason()
                if reason is None and (run is None or run.finish is None):
                    raise
                _absorb_cancellation()
                if run is None:
                    run = await self._begin(turn, control)
                return await self._finish_stopped(run, reason or "")
        except StoreError:
            if run is not None:
                self._remember_unsaved(turn.id, run.record.unsaved())
            raise

    def _remember_unsaved(self, turn: TurnId, unsaved: Unsaved) -> None:
        self._unsaved[turn] = unsaved
        self._unsaved.move_to_end(turn)
        while len(self._unsaved) > _UNSAVED_TURNS:  # the oldest may have ended in another way and never run again
            self._unsaved.popitem(last=False)

    async def _begin(self, turn: Turn, control: TurnControl) -> TurnRun:
        deps = self._deps
        steps, session = await asyncio.gather(deps.journal.load_steps(turn.id), deps.sessions.get(turn.session))
        record = Record(deps.journal, turn, steps)
        unsaved = self._unsaved.get(turn.id)
        if unsaved is not None:
            record.resume(unsaved)
        named = next((inbound.model for inbound in reversed(turn.inbounds) if inbound.model), None)
        model = chosen_name(deps.model, named or session.model, deps.default_model)
        watch = Stopwatch.start(deps.clock)
        return TurnRun(deps, turn, control, record, session, model, watch, joined=list(turn.joined))

    async def _perform(self, run: TurnRun) -> Outcome:
        await run.record.flush()  # steps an earlier run could not write
        self._unsaved.pop(run.turn.id, None)
        await receive_answers(run)
        await transcribe_recordings(run)
        if run.deps.hooks:
            await self._run_before_hooks(run)
        rules = self._rules(run.turn)
        while True:
            command = decide(run.record.state, rules)
            match command:
                case Say():
                    end = await mind_unawaited(run, command)
                    if isinstance(end, Say):
                        return await self._end(run, end)
                    self._publish_step(run, end)
                    run.record.add(end)
                case Park():
                    return await self._park(run, Parked(command.on, command.until, command.line))
                case WriteSteps(steps):
                    for step in steps:
                        self._publish_step(run, step)
                        run.record.add(step)
                case AskModel(not_before):
                    if not_before is not None and run.deps.clock.now().timestamp() < not_before:
                        return await self._park(run, self._parked_until(run, not_before))
                    if run.seconds_left <= 0:
                        run.record.add(out_of_time(run))
                    else:
                        await ask_model(run)
                case RunTools(items):
                    await self._run_tools(run, items)
                    rules = self._rules(run.turn)  # a call may have opened tools
                case _:
                    assert_never(command)

    def _rules(self, turn: Turn) -> TurnRules:
        settings, terms = self._deps.settings, terms_of(turn)
        specs, theirs = tools_of_turn(self._deps.toolset, turn).specs(), {tool.name for tool in terms.tools}
        return TurnRules(
            max_rounds=settings.max_rounds,
            window=settings.window,
            wait_attempts=settings.wait_attempts,
            language=settings.language,
            parallel=frozenset(spec.name for spec in specs if spec.parallel),
            tools={spec.name: spec for spec in specs if spec.name not in theirs},
            terms=terms,
            loops=LoopRules(settings.loop_warning, settings.loop_critical, settings.loop_breaker),
        )

    async def _run_before_hooks(self, run: TurnRun) -> None:
        decided = await run.deps.hooks.decide(BeforeTurn(run.turn, run.model))
        if decided.denied is not None and not run.record.steps:
            text = say(Sentence.HOOK_DENIED, run.deps.settings.language, detail=decided.denied)
            run.record.add(Stopped("hook", text))
        elif decided.model is not None:
            run.model = decided.model

    async def _park(self, run: TurnRun, parked: Parked) -> Parked:
        await run.record.flush()
        parked = await add_questions(run, parked)
        text = "" if parked.question else parked.line  # questions are published once they are stored
        run.deps.notices.publish(Progress(run.turn.trace, run.turn.session, "parked", parked.on.value, text))
        return parked

    def _parked_until(self, run: TurnRun, until: float) -> Parked:
        waiting = run.record.state.waiting
        detail = waiting.reason if waiting is not None else ""
        line = say(Sentence.WAITS_FOR_MODEL, run.deps.settings.language, detail=detail)
        return Parked(WaitsFor.TIME, until, line)

    async def _run_tools(self, run: TurnRun, items: tuple[CallState, ...]) -> None:
        """Check these calls, journal all intents in one write, run the calls and journal each result."""
        record = run.record
        if any(not item.open for item in record.state.calls):  # the first calls of a round run in any case
            await run.steer()
            if record.state.steered:
                return
        if run.seconds_left <= 0:
            record.add(out_of_time(run))
            return
        turn = replace(run.turn, joined=tuple(run.joined))  # joined messages count for policy too
        begun = frozenset(item.call.id for item in items if item.intent is not None)
        calls = ToolCalls(run.deps, turn, run.model, begun, lambda: run.control.is_shutting_down)
        intents: list[ToolIntended] = []
        for item in items:
            prepared = await calls.prepare(item, record.state.trust)
            if isinstance(prepared.step, ToolIntended):
                intents.append(prepared.step)
            if prepared.step is not item.intent:
                record.add(prepared.step, prepared.event)
        if not intents:
            return
        await record.flush()
        if len(intents) == 1:
            outcome = await calls.perform(intents[0], record.state.trust, run.seconds_left)
            record.add(outcome.step, outcome.event)
        else:
            await self._run_concurrently(run, calls, intents)

    async def _run_concurrently(self, run: TurnRun, calls: ToolCalls, intents: list[ToolIntended]) -> None:
        """Run the calls concurrently and journal each result as it arrives, so that a crash loses only the others."""
        slots, lock = asyncio.Semaphore(run.deps.settings.parallel_tools), asyncio.Lock()
        missing = len(intents)
        errors: list[StoreError] = []

        async def perform(intent: ToolIntended) -> None:
            nonlocal missing
            async with slots:
                outcome = await calls.perform(intent, run.record.state.trust, run.seconds_left)
                run.record.add(outcome.step, outcome.event)
            missing -= 1
            if missing and not errors:
                try:
                    async with lock:
                        await run.record.flush()
                except StoreError as error:  # the other calls continue; their results are kept for the next run
                    errors.append(error)

        async with asyncio.TaskGroup() as group:
            for intent in intents:
                group.create_task(perform(intent))
        if errors:
            raise errors[0]

    def _publish_step(self, run: TurnRun, step: Step) -> None:
        """Publish results of calls that never ran, and the retraction of a discarded reply."""
        if isinstance(step, Noted) and step.about in RETRACTING_NOTES:
            run.streamed.clear()
            run.deps.notices.publish(Retracted(run.turn.trace, run.turn.session))
        calls = {item.call.id: item for item in run.record.state.calls}
        if isinstance(step, ToolReceived) and (item := calls.get(step.result.call)) and item.intent is None:
            publish_skipped_call(run.deps, run.turn, item.call, step.status)

    async def _finish_stopped(self, run: TurnRun, reason: str) -> Outcome:
        """Return the outcome of a turn that a person stopped, possibly while it was finishing."""
        if run.finish is not None:  # the finish was already being written; writing it again changes nothing
            return await self._commit_finish(run, run.finish)
        await run.record.resync()
        return await self._end(run, self._close_calls(run, reason))

    def _close_calls(self, run: TurnRun, reason: str) -> Say:
        """Close the running calls with an unknown outcome and return the closing command."""
        record = run.record
        for item in record.state.calls:
            if item.open and item.intent is not None:
                text = f"{item.call.name} was stopped by the user while it ran; it may have taken effect."
                record.add(substitute_result(item.call.id, text, "cancelled"))
        record.add(Cancelled(reason))
        text = say_stopped(reason, run.deps.settings.language)
        return Say(text, OutboundKind.NOTICE, TurnState.CANCELLED, reason)

    async def _end(self, run: TurnRun, command: Say) -> Outcome:
        run.finish = build_finish(run, command)
        return await self._commit_finish(run, run.finish)

    async def _commit_finish(self, run: TurnRun, finish: Finish) -> Outcome:
        """Commit the finish, publish it, then start the background work."""
        await run.deps.journal.finish(finish)
        ids = tuple(inbound.id for inbound in (*run.turn.inbounds, *run.joined))
        steered = tuple(step.inbound for step in run.record.steps if isinstance(step, Steered))
        inbounds = tuple(dict.fromkeys((*ids, *steered)))
        trace, session = run.turn.trace, finish.session
        run.deps.notices.publish(
            Settled(trace, session, finish.turn, finish.state, finish.reply, finish.kind, inbounds)
        )
        await self._start_follow_up(run, finish)
        return Finished(finish.state, finish.reason)

    async def _start_follow_up(self, run: TurnRun, finish: Finish) -> None:
        if run.deps.background_tasks is not None:
            run.deps.background_tasks(self._follow_up(run, finish))
            return
        try:
            await self._follow_up(run, finish)
        except asyncio.CancelledError:  # the turn has ended; only the follow-up work is cancelled
            _absorb_cancellation()

    async def _follow_up(self, run: TurnRun, finish: Finish) -> None:
        """Run follow-up work: after-turn hooks and compaction. A shutdown cancels it."""
        try:
            await self._look_back(run, finish)
        except StoreError as error:
            log.warning("tidying after turn %s failed: %s", finish.turn, error)

    async def _look_back(self, run: TurnRun, finish: Finish) -> None:
        compactor = run.deps.compactor
        if run.deps.hooks:
            await run.deps.hooks.decide(AfterTurn(run.turn, finish.state, finish.reply))
        if compactor is None or finish.state is not TurnState.DONE or run.view is None:
            return
        view = run.view
        view = replace(view, entries=view.entries + finish.entries, total=view.total + len(finish.entries))
        model = chosen_name(run.deps.model, run.session.model, run.deps.default_model)
        if run.record.state.shortened:
            keep = min(run.record.state.keep or 0, view.total // 2)  # few long messages overflow as well as many
            await compactor.compact(run.turn.session, reason="overflow", model=model, keep=keep)
        elif (reason := compactor.needed(view, run.prompt_tokens, run.requested_model)) is not None:
            await compactor.compact(run.turn.session, reason=reason, model=model)


def _absorb_cancellation() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
