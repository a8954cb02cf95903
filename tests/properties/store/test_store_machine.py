"""The store against a model in Python, across clean and unclean ends."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hob.core.clock import SystemClock
from hob.core.errors import Busy
from hob.core.ids import InboundId, OutboxId, SessionKey, TurnId, outbox_id
from hob.core.messages import OutboundKind
from hob.core.states import FINAL_TURNS, OutboxState, TurnState
from hob.core.steps import Noted, Said, Step
from hob.core.turns import Parked, Turn, WaitsFor
from hob.store.messages.inbox import InboxLimits
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.samples import event_of, finish_of

T = TypeVar("T")
SESSIONS = tuple(SessionKey(f"s{n}") for n in range(3))
LIMITS = InboxLimits(session_queue=4)
MAX = 3


@dataclass
class Work:
    """A turn in the model."""

    turn: Turn
    inbounds: list[InboundId]
    state: TurnState = TurnState.RUNNING
    steps: list[Step] = field(default_factory=list)
    attempts: int = 0
    crash_position: int | None = None


class StoreMachine(RuleBasedStateMachine):
    """Rules do the same to the store and to plain Python values; the invariants compare them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory(prefix="hob-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        self.keys: dict[str, InboundId] = {}
        self.waiting: dict[SessionKey, list[InboundId]] = {session: [] for session in SESSIONS}
        self.cancelled: set[InboundId] = set()
        self.works: dict[TurnId, Work] = {}
        self.transcript: dict[SessionKey, list[str]] = {session: [] for session in SESSIONS}
        self.outbox: dict[OutboxId, OutboxState] = {}

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @initialize()
    def begin(self) -> None:
        self.block = open_store(Path(self.folder.name), StoreSettings(), SystemClock())
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

    @rule(session=st.sampled_from(SESSIONS), key=st.integers(0, 40), text=st.text(max_size=20))
    def accept(self, session: SessionKey, key: int, text: str) -> None:
        inbound = message(text, key=str(key))
        work = self.store.inbox.accept(inbound, session=session, limits=LIMITS, event=event_of(inbound))
        if str(key) in self.keys:
            assert self.do(work).id == self.keys[str(key)]
            return
        try:
            accepted = self.do(work)
        except Busy:
            assert len(self.waiting[session]) >= LIMITS.session_queue
            return
        assert not accepted.duplicate
        assert len(self.waiting[session]) < LIMITS.session_queue
        self.keys[str(key)] = inbound.id
        self.waiting[session].append(inbound.id)

    @precondition(lambda self: any(self.waiting.values()))
    @rule(data=st.data())
    def claim(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from([key for key, rows in self.waiting.items() if rows]))
        count = data.draw(st.integers(1, len(self.waiting[session])))
        chosen, self.waiting[session] = self.waiting[session][:count], self.waiting[session][count:]
        turn = self.do(self.store.inbox.claim(session, chosen))
        assert [inbound.id for inbound in turn.inbounds] == chosen
        self.works[turn.id] = Work(turn, chosen)

    def pick(self, data: st.DataObject, *states: TurnState) -> Work | None:
        found = [work for work in self.works.values() if work.state in states]
        return data.draw(st.sampled_from(found)) if found else None

    @rule(data=st.data(), texts=st.lists(st.text(max_size=9), min_size=1, max_size=3))
    def append(self, data: st.DataObject, texts: list[str]) -> None:
        if work := self.pick(data, TurnState.RUNNING):
            steps = [Noted(text) for text in texts]
            self.do(self.store.journal.append(work.turn.id, steps))
            work.steps.extend(steps)

    @rule(data=st.data())
    def steer(self, data: st.DataObject) -> None:
        if work := self.pick(data, TurnState.RUNNING):
            session = work.turn.session
            count = data.draw(st.integers(0, len(self.waiting[session])))
            offered, self.waiting[session] = self.waiting[session][:count], self.waiting[session][count:]
            joined = self.do(self.store.journal.steer(work.turn.id, offered))
            assert [inbound.id for inbound in joined] == offered
            work.inbounds.extend(offered)
            work.steps.extend(self.do(self.store.journal.load_steps(work.turn.id))[len(work.steps) :])
            assert len(work.steps) >= len(joined)

    @rule(data=st.data(), state=st.sampled_from([TurnState.DONE, TurnState.FAILED, TurnState.CANCELLED]))
    def finish(self, data: st.DataObject, state: TurnState) -> None:
        if work := self.pick(data, TurnState.RUNNING):
            last = (Said("reply", OutboundKind.REPLY),)
            finish = finish_of(work.turn, f"reply of {work.turn.id}", state=state, steps=last)
            for _ in range(2):
                self.do(self.store.journal.finish(finish))
            work.state = state
            work.steps.extend(last)
            self.transcript[work.turn.session] += [entry.text for entry in finish.entries]
            self.outbox[outbox_id(work.turn.id, 0)] = OutboxState.READY

    @rule(data=st.data())
    def park(self, data: st.DataObject) -> None:
        if work := self.pick(data, TurnState.RUNNING):
            self.do(self.store.turns.park(work.turn.id, Parked(WaitsFor.TIME, 5.0)))
            work.state, work.attempts, work.crash_position = TurnState.PARKED, 0, None

    @rule(data=st.data())
    def wake(self, data: st.DataObject) -> None:
        if work := self.pick(data, *TurnState):
            woken = self.do(self.store.turns.wake(work.turn.id))
            assert woken == (work.state in (TurnState.PARKED, TurnState.READY))
            if woken:
                work.state = TurnState.READY

    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        if work := self.pick(data, TurnState.READY):
            turn = self.do(self.store.turns.start(work.turn.id))
            assert turn.attempt == work.attempts
            assert turn.inbounds == work.turn.inbounds
            work.state = TurnState.RUNNING

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        if work := self.pick(data, TurnState.RUNNING):
            self.do(self.store.turns.release(work.turn.id))
            work.state, work.attempts, work.crash_position = TurnState.READY, 0, None

    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        work = self.pick(data, *TurnState)
        if work is None or work.state is TurnState.CANCELLED:
            return
        new = self.do(self.store.turns.retry(work.turn.id))
        if work.state not in {TurnState.FAILED, TurnState.SET_ASIDE} or not work.inbounds:
            assert new is None
            return
        assert new is not None
        kept = [*work.steps]
        while kept and isinstance(kept[-1], Said):
            kept.pop()
        row = self.do(self.store.turns.find(new))
        assert row is not None
        turn = Turn(new, row.session, row.trace, row.span, work.turn.inbounds)
        self.works[new] = Work(turn, work.inbounds, TurnState.READY, kept)
        work.inbounds = []

    @rule(session=st.sampled_from(SESSIONS))
    def cancel_waiting(self, session: SessionKey) -> None:
        gone = self.do(self.store.inbox.cancel_waiting(session, "stopped"))
        assert list(gone) == self.waiting[session]
        self.cancelled.update(gone)
        self.waiting[session] = []

    @rule(data=st.data(), new=st.sampled_from([OutboxState.SENT, OutboxState.READY, OutboxState.DEAD]))
    def send(self, data: st.DataObject, new: OutboxState) -> None:
        rows = self.do(self.store.outbox.next("memory", "", 1e12))
        if not rows:
            return
        id = rows[0].outbound.id
        assert self.outbox[id] is OutboxState.READY
        self.do(self.store.outbox.sending(id))
        if new is OutboxState.SENT:
            self.do(self.store.outbox.sent(id, "r"))
        else:
            self.do(self.store.outbox.failed(id, "no net", 0.0 if new is OutboxState.READY else None))
        self.outbox[id] = new

    @rule(crash=st.booleans())
    def reopen(self, crash: bool) -> None:
        self.end(crash=crash)
        self.begin()
        assert self.store.unclean == crash
        recovered = self.do(self.store.turns.recover(lambda turn: f"set aside: {turn}"))
        for work in self.works.values():
            self._recover(work, crash=crash)
        open_works = [work for work in self.works.values() if work.state is TurnState.READY]
        quarantine = {work.turn.id for work in open_works if work.attempts and work.crash_position == len(work.steps)}
        assert set(recovered.quarantine) == quarantine
        assert set(recovered.ready) == {work.turn.id for work in open_works} - quarantine

    def _recover(self, work: Work, *, crash: bool) -> None:
        if work.state in FINAL_TURNS:
            return
        if not crash:
            work.attempts, work.crash_position = 0, None
        if work.state is not TurnState.RUNNING:
            work.attempts, work.crash_position = 0, None
            return
        work.state = TurnState.READY
        if crash:
            same = work.crash_position == len(work.steps)
            work.attempts, work.crash_position = (work.attempts + 1 if same else 1), len(work.steps)
            if work.attempts >= MAX:
                work.state = TurnState.SET_ASIDE
                self.outbox[outbox_id(work.turn.id, 0)] = OutboxState.READY

    @invariant()
    def every_message_is_where_the_model_has_it(self) -> None:
        if not hasattr(self, "store"):
            return
        for session in SESSIONS:
            rows = self.do(self.store.inbox.waiting(session))
            assert [row.inbound.id for row in rows] == self.waiting[session]
        for id in self.cancelled:
            result = self.do(self.store.results.find(id))
            assert result is not None
            assert result.state == "cancelled"
        for work in self.works.values():
            for id in work.inbounds:
                result = self.do(self.store.results.find(id))
                assert result is not None
                assert (result.turn, result.state) == (work.turn.id, work.state)
                assert result.settled == (work.state in FINAL_TURNS)

    @invariant()
    def every_journal_and_transcript_is_what_was_written(self) -> None:
        if not hasattr(self, "store"):
            return
        for work in self.works.values():
            assert list(self.do(self.store.journal.load_steps(work.turn.id))) == work.steps
        for session in SESSIONS:
            history = self.do(self.store.transcript.history(session, limit=10_000))
            assert [entry.text for entry in history] == self.transcript[session]
            assert [entry.n for entry in history] == list(range(1, len(history) + 1))

    @invariant()
    def the_outbox_holds_what_is_owed(self) -> None:
        if not hasattr(self, "store"):
            return
        counts = self.do(self.store.outbox.counts())
        assert counts.open == sum(state is OutboxState.READY for state in self.outbox.values())
        assert counts.dead == sum(state is OutboxState.DEAD for state in self.outbox.values())


TestStoreMachine = StoreMachine.TestCase
