"""Cost of a turn as its conversation grows."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.bench import Bench, Client, Daemon
from benchmarks.processes import cpu_of
from benchmarks.rows import Row
from hob.core.clock import SystemClock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, new_event_id, new_span_id, new_trace_id
from hob.core.messages import Inbound
from hob.core.models import TranscriptEntry
from hob.core.states import TurnState
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL
from hob.core.turns import Finish, Summary, Turn
from hob.store.messages.inbox import InboxLimits
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.samples import chunk_of, event_of

SIZES = (20, 2_000, 100_000)
SESSION = SessionKey("api:main")
_AT_ONCE = 250
_A_TURN = 5
_NO_LIMITS = InboxLimits(session_queue=10**9, sender=10**9, total=10**9, self_made_per_hour=10**9)
_WORDS = "The kettle is on the hob, and the {number}th story is about somebody who came home late and found it warm."


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU per turn in sessions of 20, 2,000 and 100,000 messages, interleaved so that all see the same load."""
    rounds, turns = bench.times(8, 3), 20
    with ExitStack() as stack:
        running: list[tuple[Daemon, Client]] = []
        for size in SIZES:
            home = bench.home()
            asyncio.run(fill(home, size))
            daemon = stack.enter_context(bench.daemon(home))
            running.append((daemon, daemon.client()))
        costs: list[list[float]] = [[] for _ in SIZES]
        for _ in range(rounds + 1):
            before = [cpu_of(daemon.pid) for daemon, _ in running]
            # interleaved message by message, so that all sizes see the same load on the machine
            for number in range(turns):
                for _, client in running:
                    client.say(f"message {number}")
            for (daemon, _), start, found in zip(running, before, costs, strict=True):
                found.append((cpu_of(daemon.pid) - start) / turns * 1000)
    short, *long = (median(found[1:]) for found in costs)
    for size, cost in zip(SIZES[1:], long, strict=True):
        beside = f"with {SIZES[0]} messages"
        yield Row(f"a turn after {size:,} messages", cost, "ms CPU", 1.2 * short, baseline=short, beside=beside)


async def fill(home: Path, messages: int) -> None:
    """Fill a home as if this many messages had been exchanged in its main session, with Hob's summary of them."""
    home.mkdir(exist_ok=True)
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        exchanges = messages // 2
        for first in range(0, exchanges, _AT_ONCE):
            await _exchange(store, range(first, min(first + _AT_ONCE, exchanges)))
        if messages > 20:
            await _summarise(store, messages - 20)


async def _exchange(store: Store, numbers: range) -> None:
    """Store these messages and their answers, a few per turn and with shared commits; single ones take minutes."""
    inbounds = [message(_WORDS.format(number=number), channel="api", chat="main") for number in numbers]
    await _together(_accept(store, inbound) for inbound in inbounds)
    await _together(_answer(store, inbounds[first : first + _A_TURN]) for first in range(0, len(inbounds), _A_TURN))


async def _together(jobs: Iterable[Coroutine[None, None, None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for job in jobs:
            group.create_task(job)


async def _answer(store: Store, inbounds: Sequence[Inbound]) -> None:
    turn = await store.inbox.claim(SESSION, [inbound.id for inbound in inbounds])
    await store.journal.finish(_finish(turn))


async def _accept(store: Store, inbound: Inbound) -> None:
    await store.inbox.accept(inbound, session=SESSION, limits=_NO_LIMITS, event=event_of(inbound))


def _finish(turn: Turn) -> Finish:
    entries: list[TranscriptEntry] = []
    for inbound in turn.inbounds:
        entries.append(TranscriptEntry(0, "user", inbound.text, OWNER_LABEL, turn.id, 1.0))
        entries.append(TranscriptEntry(0, "assistant", f"You said: {inbound.text}", HOB_LABEL, turn.id, 2.0))
    return Finish(
        turn=turn.id,
        session=turn.session,
        state=TurnState.DONE,
        entries=tuple(entries),
        outbounds=(chunk_of(turn, "That was a lot."),),
        events=tuple(event_of(inbound, EventKind.TURN) for inbound in turn.inbounds),
        reply="That was a lot.",
    )


async def _summarise(store: Store, upto: int) -> None:
    event = TimelineEvent(
        new_event_id(), new_trace_id(), new_span_id(), None, 1.0, EventKind.COMPACTION, "messages", session=SESSION
    )
    await store.transcript.summarise(SESSION, Summary(upto, "## Goals\n- tell stories", HOB_LABEL), event)
