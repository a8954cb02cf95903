"""Supervision of sub-agent runs: start, time limits, delivery of results, archiving.

Pending work is stored, so the job continues after a restart. A waiting session (`sessions_yield`) gets the results as
the result of that call. Other sessions get them as a message, which they may answer in the chat they work for.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from hob.app.running_app import RunningServices
from hob.app.subagents.settings import SubagentSettings
from hob.bus.settings import REPORTS, SELF_MADE
from hob.bus.waiting import wait_for_event
from hob.core.clock import Clock
from hob.core.content.chunks import short_title
from hob.core.errors import Busy, HobError, StoreError
from hob.core.events.notices import Progress
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import InboundId, OutboxId, SessionKey, new_event_id, new_span_id, new_trace_id
from hob.core.messages import INTERNAL_CHANNEL, POLLED_CHANNELS, Address, Inbound, Outbound, Sender
from hob.core.money import price
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats
from hob.core.ports.notices import Notices
from hob.core.states import FINAL_TURNS, TurnState
from hob.core.tools import ToolResult
from hob.core.translation.sentences import Sentence, say
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.core.trust.self_messages import SELF
from hob.store.store import Store
from hob.store.subagents import SEND, SPAWN, AwaitingCall, QueuedMessage, SubagentRow, SubagentWork

SKIP = frozenset({"ANNOUNCE_SKIP", "REPLY_SKIP"})
"""A result that consists of one of these words is not reported."""
HANDED_OVER = 2_400
"""Characters of a result that its parent sees."""
_KEPT_SECONDS = 7 * 86_400.0
_FIRST_PAUSE, _LONGEST_PAUSE, _STORE_PAUSE = 15.0, 300.0, 5.0

log = logging.getLogger(__name__)


def is_over(row: SubagentRow) -> bool:
    """Return whether the run has ended, or its session no longer waits for it."""
    return not row.open or (row.kind == SEND and bool(row.why))


def _is_unwanted(row: SubagentRow) -> bool:
    """Return whether the run was killed, or the turn that spawned it was cancelled."""
    return row.why == "killed" or (row.parent_state is TurnState.CANCELLED and not row.why)


def _is_awaited(row: SubagentRow, awaiting: AwaitingCall) -> bool:
    """Return whether the call waits for this run. Answers of other sessions are awaited only by their own turn."""
    return row.kind == SPAWN or row.turn == awaiting.turn


class SubagentRuns:
    """Starts, ends and reports runs. Call `wake` when there may be work."""

    def __init__(self, store: Store, notices: Notices, clock: Clock, settings: SubagentSettings, language: str) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self._notices = notices
        self._language = language
        self._wakeup = asyncio.Event()
        self._blocked: dict[InboundId, tuple[float, float]] = {}
        """Failed reports: the monotonic time of the next attempt, and the pause after it."""
        self._open_runs: tuple[SubagentRow, ...] = ()
        self._archive_at = 0.0
        """The wall-clock time at which the next reported run is archived."""
        self.busy = True
        """Whether the end of any turn may create work."""

    def wake(self) -> None:
        """Make the job look for work soon."""
        self._wakeup.set()

    def view(self) -> Mapping[str, Any]:
        """Return the sub-agents at work."""
        at_work = [row for row in self._open_runs if row.kind == SPAWN and row.open]
        return {
            "subagents": [
                {"id": row.id, "label": row.label, "session": row.session, "parent": row.parent, "state": row.status}
                for row in at_work
            ]
        }

    async def run(self, running: RunningServices) -> None:
        """Supervise the runs until cancelled."""
        while True:
            self._wakeup.clear()
            try:
                pause = await self._pass(running)
            except StoreError as error:
                log.error("sub-agents wait for the store: %s", error)
                pause = _STORE_PAUSE
            await wait_for_event(self._wakeup, self.clock, pause)

    async def _pass(self, running: RunningServices) -> float | None:
        work = await self.store.subagents.work()
        self.busy = bool(work.runs or work.queued)
        if await self._start_and_end(running, work):
            work = await self.store.subagents.work()
        rows = self._open_runs = work.runs
        taken = await self._wake_waiting(running, work)
        for row in rows:
            if row.id not in taken and is_over(row) and await self._report(running, row):
                taken.add(row.id)
        now = self.clock.now().timestamp()
        if any(row.id in taken and (row.kind == SEND or row.cleanup == "delete") for row in rows):
            self._archive_at = now
        elif taken:
            first = min(row.ended or row.created for row in rows if row.id in taken)
            self._archive_at = min(self._archive_at, first + 60.0 * self.settings.archive_minutes)
        if now >= self._archive_at:
            await self._archive_due(running)
        return self._next_pause([row for row in rows if row.id not in taken])

    async def _start_and_end(self, running: RunningServices, work: SubagentWork) -> bool:
        """Start queued runs within the limits, and end late or unwanted ones. Return whether any run ended."""
        failed = await self._start_queued(running.accept, work.runs, work.queued)
        unwanted = [row for row in work.runs if row.kind == SPAWN and row.open and _is_unwanted(row)]
        for row in unwanted:
            await self.kill(running, row)
        return await self._end_late(running, work.runs) or failed or bool(unwanted)

    async def _start_queued(self, accept: Accept, rows: Sequence[SubagentRow], found: Sequence[QueuedMessage]) -> bool:
        """Start queued runs within the limits. Return whether any of them was refused."""
        failed = False
        at_work = sum(row.status == "running" and not row.waits and row.kind == SPAWN for row in rows)
        by_id = {row.id: row for row in rows}
        for message in found:
            row = by_id.get(message.run)
            spawned = row is not None and row.kind == SPAWN and message.key == message_key(row.id)
            if row is not None and row.why:
                await self.store.subagents.remove_queued(message.key)
                continue
            if spawned and at_work >= self.settings.max_running:
                continue
            try:
                await accept(message.inbound)
            except Busy as busy:
                log.info("a message to a session waits: %s", busy)
                return failed
            except StoreError:
                raise
            except HobError as error:
                log.warning("a message to a session was not taken: %s", error)
                if row is not None and message.key != message_key(row.id):
                    await self.store.subagents.unsteer(row.id, message.inbound.id)
                elif row is not None:
                    await self.store.subagents.end(row.id, "failed")
                    failed = True
            if row is None or not spawned:
                await self.store.subagents.remove_queued(message.key)
                continue
            at_work += 1
            await self.store.subagents.remove_queued(message.key, *events_of(row, "begun", self.clock))
            self._notify_watchers(row, Sentence.SUBAGENT_BEGUN)
        return failed

    async def _end_late(self, running: RunningServices, rows: Sequence[SubagentRow]) -> bool:
        now = self.clock.now().timestamp()
        late = [row for row in rows if row.seconds and row.open and not row.why and now >= row.created + row.seconds]
        for row in late:
            if row.kind == SPAWN:
                await self.kill(running, row, "timeout")
            else:
                await self.store.subagents.end(row.id, "timeout")
        return bool(late)

    async def kill(self, running: RunningServices, row: SubagentRow, why: str = "killed") -> None:
        """End a run and its descendants. Raises StoreErrors."""
        await self.store.subagents.end(row.id, why)
        await self.store.subagents.remove_queued(message_key(row.id))
        for id in (row.steer, row.id):
            if id is not None:
                await running.operations.cancel(id, why)
        for child in await self.store.subagents.of(row.session):
            if child.parent == row.session and child.kind == SPAWN and child.open:
                await self.kill(running, child)

    async def end(self, row: SubagentRow) -> None:
        """Mark a run as killed; the job ends it and its descendants, even after a restart."""
        for each in [child for child in await self.store.subagents.of(row.session) if child.open] + [row]:
            if each.kind == SPAWN:
                await self.store.subagents.end(each.id, "killed")
        self.wake()

    async def _wake_waiting(self, running: RunningServices, work: SubagentWork) -> set[InboundId]:
        """Wake waiting turns whose sub-agents have all ended, with the results. Return the reported runs."""
        taken: set[InboundId] = set()
        for awaiting in work.awaiting:
            mine = [row for row in work.runs if row.parent == awaiting.session and _is_awaited(row, awaiting)]
            if not all(map(is_over, mine)):
                continue
            found = await asyncio.gather(*map(self._result, mine))
            texts = [self._format_result(row, text, stats) for row, (text, _, stats) in zip(mine, found, strict=True)]
            clean = all(label.trusted for _, label, _ in found)
            label = Label(Origin.MODEL, Trust.TRUSTED if clean else Trust.UNTRUSTED)
            result = ToolResult(awaiting.call, "\n\n".join(texts) or "No sub-agent was at work.", label)
            events = [event for row in mine for event in events_of(row, row.status, self.clock)]
            await self.store.subagents.hand_over([row.id for row in mine], awaiting.turn, result, events)
            running.sessions.enqueue_ready(awaiting.turn, awaiting.session)
            for row in mine:
                self._notify_watchers(row, Sentence.SUBAGENT_ENDED)
            taken.update(row.id for row in mine)
        return taken

    async def _report(self, running: RunningServices, row: SubagentRow) -> bool:
        """Report a result to the parent session after its turn (see `SKIP`). Return False if it is too early."""
        if row.parent_state is not None and row.parent_state not in FINAL_TURNS:
            return False
        waits, pause = self._blocked.get(row.id, (0.0, _FIRST_PAUSE))
        if waits > self.clock.monotonic():
            return False
        text, label, stats = await self._result(row)
        goal = await self._report_target(row)
        silent = text.strip() in SKIP or row.why == "killed" or goal is None
        late = self.clock.now().timestamp() - (row.ended or row.created) > _KEPT_SECONDS
        if not silent and not late and goal is not None:
            report = await self._report_message(row, goal, self._format_result(row, text, stats), label)
            try:
                await running.accept(report)
            except StoreError:
                raise
            except HobError as error:
                log.warning("the report of %s waits: %s", row.id, error)
                longer = min(_LONGEST_PAUSE, pause * 2)
                self._blocked[row.id] = (self.clock.monotonic() + pause, longer)
                return False
        self._blocked.pop(row.id, None)
        by = "nobody" if silent or late else "session"
        await self.store.subagents.take(row.id, by, *events_of(row, row.status, self.clock))
        self._notify_watchers(row, Sentence.SUBAGENT_ENDED)
        return True

    async def _report_target(self, row: SubagentRow) -> SessionKey | None:
        """Return the session that gets the report: the nearest ancestor that has not reported itself."""
        goal = row.parent
        while (above := await self.store.subagents.spawned_as(goal)) is not None and not above.open:
            if above.why == "killed":
                return None
            goal = above.parent
        return goal

    async def _report_message(self, row: SubagentRow, goal: SessionKey, text: str, label: Label) -> Inbound:
        begun = await self.store.inbox.find_inbound(row.id)
        return Inbound(
            InboundId(f"{row.id}r"),
            f"report:{row.id}",
            Address(REPORTS, await self._first_run_of_chat(row, goal)),
            Sender(SELF, "Hob", begun.sender.cls if begun is not None else SenderClass.STRANGER),
            text,
            label,
            new_trace_id(),
            session=goal,
            hops=1 + (begun.hops if begun is not None else row.depth),
            background=True,
            group=begun is None or begun.group,
        )

    async def _first_run_of_chat(self, row: SubagentRow, goal: SessionKey) -> InboundId:
        """Return the first run with the same parent and chat, so that one turn can answer several reports."""
        runs = await self.store.subagents.of(goal)
        return next((each.id for each in runs if (each.parent, each.origin) == (goal, row.origin)), row.id)

    async def _result(self, row: SubagentRow) -> tuple[str, Label, str]:
        """Return a run's answer, its trust, and its statistics."""
        (text, trust), spent = await asyncio.gather(
            self.store.subagents.outcome(row), self.store.ledger.spent(session=row.session)
        )
        took = max(0.0, (row.ended or row.created) - (row.began or row.created))
        tokens = spent.usage.input + spent.usage.output
        stats = f"{took:.0f} s, {tokens} tokens, {price(spent.cost)}"
        return text, Label(Origin.MODEL, trust), stats

    def _format_result(self, row: SubagentRow, text: str, stats: str) -> str:
        if row.kind == SEND:
            head = f"[answer of session {row.session}, which is not the user: {row.why or row.status}]"
        else:
            head = f"[sub-agent {row.label or row.name or row.id}, run {row.id}: {row.status} ({stats})]"
        if len(text) > HANDED_OVER:
            more = f'\n[… all of it: sessions_history with session "{row.session}"]'
            text = text[:HANDED_OVER] + more
        return f"{head}\n{text}" if text else head

    async def _archive_due(self, running: RunningServices) -> None:
        """Archive or delete the sessions of reported runs that are old enough."""
        kept = 60.0 * self.settings.archive_minutes
        for row in await self.store.subagents.handed_over(self.clock.now().timestamp() - kept):
            await self._close(running, row)
        first = await self.store.subagents.next_handed_over()
        self._archive_at = math.inf if first is None else first + kept

    async def _close(self, running: RunningServices, row: SubagentRow) -> None:
        if row.kind == SPAWN and row.cleanup == "delete":
            try:
                await running.operations.conversations.delete(row.session)
            except StoreError:
                raise
            except HobError as error:  # the session may never have existed, or be busy again
                log.info("the session of %s is not deleted: %s", row.id, error)
        elif row.kind == SPAWN:
            await self.store.sessions.change(row.session, archived=True)
        await self.store.subagents.close(row.id)

    def _next_pause(self, rows: Sequence[SubagentRow]) -> float | None:
        now, mono = self.clock.now().timestamp(), self.clock.monotonic()
        times = [row.created + row.seconds - now for row in rows if row.open and row.seconds and not row.why]
        times += [self._archive_at - now] if self._archive_at < math.inf else []
        times += [at - mono for at, _ in self._blocked.values()]
        return max(0.2, min(min(times), _LONGEST_PAUSE)) if times else None

    def _notify_watchers(self, row: SubagentRow, sentence: Sentence) -> None:
        """Notify watchers of the parent's turn of what happened to a run."""
        if row.kind == SPAWN and row.parent_trace is not None:
            label = short_title(row.label or row.name or row.id)
            text = say(sentence, self._language, label=label, state=row.status)
            self._notices.publish(Progress(row.parent_trace, row.parent, "subagent", label, text))

    async def note(self, row: SubagentRow, what: str) -> None:
        """Write a timeline event about a run. Raises StoreErrors."""
        await self.store.timeline.add(events_of(row, what, self.clock))


def events_of(row: SubagentRow, what: str, clock: Clock) -> tuple[TimelineEvent, ...]:
    """Return the timeline events about a run; none for messages between sessions, or if the parent's turn is gone."""
    if row.kind != SPAWN or row.parent_trace is None:
        return ()
    at = clock.now().timestamp()
    event = TimelineEvent(
        new_event_id(), row.parent_trace, new_span_id(), None, at, EventKind.SUBAGENT, what, session=row.parent,
        turn=row.turn, classification="SUBAGENT", text=f"{row.label or row.name or row.id}: {row.session}",
    )  # fmt: skip
    return (event,)


def message_key(id: InboundId) -> str:
    """Return the idempotency key of the message that starts a run."""
    return f"run:{id}"


class SelfChannel:
    """Implements `Channel` for messages that Hob sends to itself.

    Answers to reports, and approval requests of sub-agents, are forwarded to the chat that the work belongs to.
    Watchers of the session are notified with a `Progress` of kind `REPORTS`.
    """

    account = ""
    repeats = Repeats.SHOWN_ONCE
    text_limit = 10_000_000

    def __init__(
        self, name: str, store: Store, notices: Notices, on_pending: Callable[[Sequence[Address]], None]
    ) -> None:
        self.name = name
        self._store = store
        self._notices = notices
        self._on_pending = on_pending

    @asynccontextmanager
    async def run(self, accept: Accept) -> AsyncIterator[None]:
        """Do nothing: this channel receives no messages."""
        yield

    async def send(self, message: Outbound) -> Delivered:
        """Store the message durably, for the other chat if it is forwarded. Raises StoreErrors."""
        row = await find_run(self._store, message.to)
        # these channels poll for approval requests
        shown = SELF_MADE | POLLED_CHANNELS if self.name == INTERNAL_CHANNEL else SELF_MADE
        if row is None or row.origin.channel in shown:
            return Delivered("kept")
        forwarded = replace(message, id=OutboxId(f"{message.id}.fwd"), to=row.origin)
        await self._store.outbox.enqueue([forwarded])
        self._on_pending((row.origin,))
        self._notices.publish(Progress(message.trace, row.root, REPORTS))
        return Delivered(row.origin.channel)


async def find_run(store: Store, chat: Address) -> SubagentRow | None:
    """Return the run that works in this chat or is reported there, or None."""
    return await store.subagents.find(chat.chat) if chat.channel in SELF_MADE else None
