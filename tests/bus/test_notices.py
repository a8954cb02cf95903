"""Live notices: no subscriber can block what it observes."""

import asyncio

from hob.bus.notices import Hub
from hob.core.events.notices import Delta, Notice, Retracted, Settled
from hob.core.ids import SessionKey, TraceId, TurnId
from hob.core.states import TurnState

TRACE, SESSION = TraceId("trace"), SessionKey("session")


def delta(text: str, trace: TraceId = TRACE, session: SessionKey = SESSION) -> Delta:
    return Delta(trace, session, text)


SETTLED = Settled(TRACE, SESSION, TurnId("t"), TurnState.DONE)


async def test_subscribers_see_their_trace_their_session_or_everything() -> None:
    hub = Hub()
    with hub.subscribe(trace=TRACE) as one, hub.subscribe(session=SESSION) as two, hub.subscribe() as three:
        hub.publish(delta("a"))
        hub.publish(delta("b", trace=TraceId("other")))
        hub.publish(delta("c", TraceId("other"), SessionKey("other")))
        hub.close()
        seen = [[notice async for notice in viewer] for viewer in (one, two, three)]
    assert ["".join(getattr(n, "text", "") for n in notices) for notices in seen] == ["a", "ab", "abc"]


async def test_slow_subscriber_loses_the_oldest_deltas_but_never_an_outcome() -> None:
    hub = Hub(at_most=4)
    with hub.subscribe(trace=TRACE) as viewer:
        hub.publish(Retracted(TRACE, SESSION))
        for n in range(10):
            hub.publish(delta(str(n)))
        hub.publish(SETTLED)
        for _ in range(10):
            hub.publish(delta("late"))
        hub.close()
        seen: list[Notice] = [notice async for notice in viewer]
    assert Retracted(TRACE, SESSION) in seen
    assert SETTLED in seen
    assert len(seen) == 4
    assert viewer.dropped == 18


async def test_queue_full_of_outcomes_still_accepts_another() -> None:
    hub = Hub(at_most=2)
    with hub.subscribe() as viewer:
        for _ in range(5):
            hub.publish(SETTLED)
        hub.publish(delta("no room"))
        hub.close()
        assert [notice async for notice in viewer] == [SETTLED] * 5
    assert viewer.dropped == 1


async def test_waiting_subscriber_is_woken() -> None:
    hub = Hub()
    with hub.subscribe(trace=TRACE) as viewer:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(anext(viewer))
            await asyncio.sleep(0)
            hub.publish(SETTLED)
        assert waiting.result() == SETTLED


async def test_cancelled_subscriber_is_removed() -> None:
    hub = Hub()
    for n in range(100):
        with hub.subscribe(trace=TraceId(str(n))):
            pass
    assert hub._viewers == {}
