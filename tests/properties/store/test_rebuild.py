"""Whatever happens to a store, the tables agree with the timeline about tasks, spending and sessions."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hob.core.errors import Busy, InvalidRequest
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import CallId, InboundId, SessionKey, TraceId, new_event_id, new_span_id, new_trace_id
from hob.core.messages import Inbound, Sender
from hob.core.models import Thinking, Usage
from hob.core.states import TurnState
from hob.core.steps import ModelFailed, ModelReplied, Step, ToolReceived
from hob.core.tools import ToolResult
from hob.core.trust.labels import SenderClass
from hob.core.turns import Finish, Parked, QueueMode, SessionChange, Turn, WaitsFor
from hob.store.messages.inbox import InboxLimits
from hob.store.projections.rebuild import compare
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.store.turns.turns import TurnRow
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.samples import ASKED, event_of, finish_of

T = TypeVar("T")
LIMITS = InboxLimits(session_queue=5)
keys = st.sampled_from([SessionKey("a"), SessionKey("b")])
texts = st.sampled_from(["", "hello", " Plan\nthe garden", "word " * 30])
choices = st.fixed_dictionaries(
    {},
    optional={
        "title": texts,
        "model": st.sampled_from([None, "small"]),
        "mode": st.none() | st.sampled_from(QueueMode),
        "thinking": st.none() | st.sampled_from(Thinking),
        "permission": st.sampled_from([None, "read-only", "full"]),
        "autonomy": st.sampled_from([None, "supervised", "autonomous"]),
        "paused": st.booleans(),
        "archived": st.booleans(),
    },
)
usages = st.none() | st.builds(Usage, *(st.integers(0, 9) for _ in range(5)))
costs = st.none() | st.integers(0, 99)
senders = st.sampled_from(SenderClass)
call_steps = st.one_of(
    st.just(ASKED),
    st.just(replace(ASKED, models=("model-a", "model-b"))),
    st.builds(lambda usage, cost: ModelReplied("yes", usage=usage, model="model-b", cost=cost), usages, costs),
    st.builds(
        lambda fault, usage, cost: ModelFailed(fault, "no", usage=usage, cost=None if usage is None else cost),
        st.sampled_from(["auth", "empty", "cut"]), usages, costs,
    ),
    st.just(ToolReceived(ToolResult(CallId("c"), "tool"))),
)  # fmt: skip


def told(turn: TurnRow, step: Step) -> TimelineEvent:
    """What the agent writes beside the end of a call."""
    assert isinstance(step, ModelReplied | ModelFailed)
    name, status = (step.model, "ok") if isinstance(step, ModelReplied) else (ASKED.model, step.fault)
    return TimelineEvent(
        new_event_id(), turn.trace, new_span_id(), turn.span, 3.0, EventKind.MODEL, name, status,
        session=turn.session, turn=turn.id, usage=step.usage, cost=step.cost,
    )  # fmt: skip


def has(*states: TurnState) -> Callable[[Any], bool]:
    """Whether there is a turn in one of these states."""
    return lambda machine: any(row.state in states for row in machine.turns)


class RebuildMachine(RuleBasedStateMachine):
    """Rules for everything that touches the tables; the clock moves with each step, sometimes backwards."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory(prefix="hob-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        self.clock = ManualClock()
        self.messages: list[Inbound] = []
        self.turns: list[TurnRow] = []

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @initialize()
    def begin(self) -> None:
        self.block = open_store(Path(self.folder.name), StoreSettings(), self.clock)
        self.store: Store = self.do(self.block.__aenter__())

    def end(self, *, crash: bool) -> None:
        if crash:
            self.do(self.store.abandon())
        self.do(self.block.__aexit__(None, None, None))

    def teardown(self) -> None:
        self.end(crash=False)
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        self.folder.cleanup()

    def pick(self, data: st.DataObject, *states: TurnState) -> TurnRow:
        """A turn in one of these states; the rule's precondition has seen one."""
        return data.draw(st.sampled_from([row for row in self.turns if row.state in states]))

    @rule(seconds=st.sampled_from([1.0, 100.0, 4000.0, -100.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.set_wall(self.clock.now() + timedelta(seconds=seconds))

    @rule(
        session=keys,
        text=texts,
        command=st.integers(0, 5).map(lambda n: n == 0),
        chat=st.sampled_from(["chat", "other"]),
        cls=senders,
    )
    def accept(self, session: SessionKey, text: str, command: bool, chat: str, cls: SenderClass) -> None:
        inbound = replace(message(text, chat=chat), sender=Sender("somebody", cls=cls))
        work = self.store.inbox.accept(
            inbound, session=session, limits=LIMITS, command=command, event=event_of(inbound)
        )
        try:
            self.do(work)
        except Busy:
            return
        self.messages.append(inbound)

    @rule(session=keys, times=st.integers(1, 3))
    def begin_a_turn(self, session: SessionKey, times: int) -> None:
        """One that asked a model, perhaps again after crashes."""
        inbound = message("hello")
        limits = InboxLimits(session_queue=100)
        work = self.store.inbox.accept(inbound, session=session, limits=limits, event=event_of(inbound))
        turn = self.do(self.store.inbox.claim(self.do(work).session, [inbound.id]))
        for _ in range(times):
            self.clock.set_wall(self.clock.now() + timedelta(seconds=1))
            self.do(self.store.journal.append(turn.id, [ASKED]))
        self.messages.append(inbound)

    @rule(session=keys, kind=st.sampled_from([EventKind.COMMAND, EventKind.OUTBOUND]))
    def answer_on_arrival(self, session: SessionKey, kind: EventKind) -> None:
        inbound = message("/status")
        event, reply = event_of(inbound), event_of(inbound, kind)
        self.do(self.store.inbox.answered(inbound, session=session, answer="fine", event=event, reply_event=reply))
        self.messages.append(inbound)

    @rule(session=keys, count=st.integers(1, 3))
    def claim(self, session: SessionKey, count: int) -> None:
        rows = self.do(self.store.inbox.waiting(session))
        if not rows:
            return
        if rows[0].command:
            events = (event_of(rows[0].inbound, EventKind.COMMAND),) if count == 1 else ()
            self.do(self.store.inbox.settle_command(rows[0], "done", (), events))
            return
        ids = [row.inbound.id for row in rows[:count] if not row.command]
        self.do(self.store.inbox.claim(session, ids))

    @precondition(has(TurnState.RUNNING))
    @rule(data=st.data(), steps=st.lists(call_steps, max_size=4), tells=st.booleans())
    def append(self, data: st.DataObject, steps: list[Step], tells: bool) -> None:
        turn = self.pick(data, TurnState.RUNNING)
        ends = [step for step in steps if isinstance(step, ModelReplied | ModelFailed)]
        events = [told(turn, step) for step in ends] if tells else []
        self.do(self.store.journal.append(turn.id, steps, events))

    @precondition(has(TurnState.RUNNING))
    @rule(data=st.data())
    def steer(self, data: st.DataObject) -> None:
        turn = self.pick(data, TurnState.RUNNING)
        waiting = self.do(self.store.inbox.waiting(turn.session))
        self.do(self.store.journal.steer(turn.id, [row.inbound.id for row in waiting]))

    @precondition(has(TurnState.RUNNING))
    @rule(
        data=st.data(),
        state=st.sampled_from([TurnState.DONE, TurnState.SILENT, TurnState.FAILED, TurnState.CANCELLED]),
        reason=st.sampled_from(["", "no_model"]),
        said=st.booleans(),
    )
    def finish(self, data: st.DataObject, state: TurnState, reason: str, said: bool) -> None:
        row = self.pick(data, TurnState.RUNNING)
        mine = tuple(inbound for inbound in self.messages if self.turn_of(inbound.id) == row.id)
        turn = Turn(row.id, row.session, row.trace, row.span, mine)
        whole = finish_of(turn, "reply", state=state)
        self.do(self.store.journal.finish(_cut(whole, reason, said)))
        self.do(self.store.outbox.picked_up(row.id, ["memory"]))

    def turn_of(self, id: InboundId) -> str | None:
        result = self.do(self.store.results.find(id))
        return None if result is None else result.turn

    @precondition(has(TurnState.RUNNING))
    @rule(data=st.data(), on=st.sampled_from(WaitsFor))
    def park(self, data: st.DataObject, on: WaitsFor) -> None:
        turn = self.pick(data, TurnState.RUNNING)
        self.do(self.store.turns.park(turn.id, Parked(on, line="waits")))

    @precondition(has(TurnState.PARKED))
    @rule(data=st.data())
    def wake(self, data: st.DataObject) -> None:
        turn = self.pick(data, TurnState.PARKED)
        self.do(self.store.turns.wake(turn.id))

    @precondition(has(TurnState.READY))
    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        turn = self.pick(data, TurnState.READY)
        self.do(self.store.turns.start(turn.id))

    @precondition(has(TurnState.RUNNING))
    @rule(data=st.data(), clean=st.booleans())
    def release(self, data: st.DataObject, clean: bool) -> None:
        turn = self.pick(data, TurnState.RUNNING)
        if clean:
            self.do(self.store.turns.release(turn.id))
        else:
            self.do(self.store.turns.record_defect(turn.id, str))

    @precondition(has(TurnState.FAILED, TurnState.SET_ASIDE))
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        turn = self.pick(data, TurnState.FAILED, TurnState.SET_ASIDE)
        self.do(self.store.turns.retry(turn.id))

    @rule(session=keys)
    def cancel_waiting(self, session: SessionKey) -> None:
        self.do(self.store.inbox.cancel_waiting(session, "/stop all"))

    @rule(session=keys, usage=usages, cost=costs, whose=st.sampled_from(["", "member", "owner/summary"]))
    def call_outside_any_turn(self, session: SessionKey, usage: Usage | None, cost: int | None, whose: str) -> None:
        event = TimelineEvent(
            new_event_id(), new_trace_id(), new_span_id(), None, 5000.0, EventKind.MODEL, "model-c", "auth",
            session=session, classification=whose, usage=usage, cost=cost,
        )  # fmt: skip
        self.do(self.store.ledger.record(event))

    @precondition(has(TurnState.RUNNING))
    @rule(data=st.data(), usage=usages, cost=costs, status=st.sampled_from(["ok", "cut_stream", "auth"]))
    def call_beside_an_answer(self, data: st.DataObject, usage: Usage | None, cost: int | None, status: str) -> None:
        turn = self.pick(data, TurnState.RUNNING)
        event = TimelineEvent(
            new_event_id(), new_trace_id(), new_span_id(), None, 5000.0, EventKind.MODEL, "model-d", status,
            session=turn.session, turn=turn.id, classification="owner/chat", usage=usage, cost=cost,
        )  # fmt: skip
        self.do(self.store.ledger.record(event))

    @rule(session=keys)
    def reset(self, session: SessionKey) -> None:
        self.do(self.store.sessions.reset(session, "new"))

    @rule(session=keys, chat=st.sampled_from(["memory::chat:", "memory::other:"]))
    def switch(self, session: SessionKey, chat: str) -> None:
        self.do(self.store.sessions.switch(chat, session))

    @rule(session=keys, chosen=choices)
    def choose(self, session: SessionKey, chosen: SessionChange) -> None:
        self.do(self.store.sessions.change(session, **chosen))

    @rule(data=st.data(), session=st.none() | keys)
    def erase(self, data: st.DataObject, session: SessionKey | None) -> None:
        try:
            if session is not None:
                self.do(self.store.erasure.erase_session(session, "asked to"))
            elif self.messages:
                trace: TraceId = data.draw(st.sampled_from(self.messages)).trace
                self.do(self.store.erasure.erase_trace(trace, "asked to"))
        except InvalidRequest:
            pass  # still in progress

    @rule(crash=st.booleans())
    def reopen(self, crash: bool) -> None:
        self.end(crash=crash)
        self.begin()
        self.do(self.store.turns.recover(lambda turn: f"set aside: {turn}"))

    @invariant()
    def the_timeline_says_what_the_tables_say(self) -> None:
        if hasattr(self, "store"):
            self.clock.set_wall(self.clock.now() + timedelta(seconds=1))
            found = [self.do(self.store.turns.find(inbound.id)) for inbound in self.messages]
            self.turns = [row for row in found if row is not None]
            compared = self.do(self.store._readers.read(compare))
            assert [line for table in compared for line in table.lines()] == []


def _cut(finish: Finish, reason: str, said: bool) -> Finish:
    return replace(finish, reason=reason) if said else replace(finish, reason=reason, entries=(), events=(), steps=())


TestRebuild = RebuildMachine.TestCase
