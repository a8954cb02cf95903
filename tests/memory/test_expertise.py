"""What Hob is good at: counted from the timeline, scored as the seed does."""

from collections.abc import AsyncIterator

import pytest

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import new_event_id, new_span_id, new_trace_id
from hob.memory.expertise import ExpertiseKeeper, ExpertiseSection, Trend, rated, skill_of, use_of
from hob.store.memory.expertise import SkillRecord
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.samples import finish_of
from tests.turns import make_turn


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock()) as store:
        yield store


def event(name: str, status: str = "ok", kind: EventKind = EventKind.TOOL) -> TimelineEvent:
    return TimelineEvent(
        new_event_id(), new_trace_id(), new_span_id(), None, 5.0, kind, name, status=status, seconds=2.0
    )


async def happens(store: Store, *events: TimelineEvent) -> None:
    turn = await make_turn(store, message(f"do it {events[0].id}"))
    await store.journal.append(turn.id, [], events)
    await store.journal.finish(finish_of(turn, "done"))


@pytest.mark.parametrize(
    ("tool", "skill"),
    [("edit", "filesystem"), ("exec", "shell"), ("memory_get", "memory"), ("web_fetch", "research"),
     ("sessions_send", "communication"), ("message", "communication"), ("dtu", "day2day"), ("weather__now", "general"),
     ("reader", "general")],
)  # fmt: skip
def test_tool_belongs_to_one_skill(tool: str, skill: str) -> None:
    assert skill_of(tool) == skill


def test_score_and_trend_follow_the_seeds_formula() -> None:
    worked = rated(SkillRecord("shell", 60, 40, 0.0, 0.0, (False,) * 40 + (True,) * 10))
    quality = (40 * 0.2 + 10 * 0.7) / 50
    assert worked.score == pytest.approx(0.6 * 0.6 + 0.3 * quality + 0.1)
    assert worked.trend is Trend.IMPROVING
    assert rated(SkillRecord("shell", 10, 10, 0.0, 0.0, (True,) * 10 + (False,) * 10)).trend is Trend.DECLINING
    new = rated(SkillRecord("shell", 1, 0, 0.0, 0.0, (True,)))
    assert new.score == pytest.approx(0.6 + 0.21 + 0.001)
    assert new.trend is Trend.STABLE


async def test_each_use_is_counted_once_and_calls_not_made_are_not(store: Store) -> None:
    keeper = ExpertiseKeeper(store.expertise)
    await happens(store, event("read"), event("exec", "error"), event("exec", "asked"), event("exec", "denied"))
    await happens(store, event("completed", kind=EventKind.SUBAGENT), event("begun", kind=EventKind.SUBAGENT))
    for _ in range(2):
        told = {each.skill: (each.successes, each.failures) for each in await keeper.count()}
        assert told == {"delegation": (1, 0), "filesystem": (1, 0), "shell": (0, 1)}
    await happens(store, event("write"))
    assert next(each.view() for each in await keeper.count() if each.skill == "filesystem")["uses"] == 2
    assert {*(await keeper.count())[0].view()} >= {"skill", "score", "trend", "uses"}  # the seed's fields


async def test_prompt_names_only_skills_that_mostly_failed(store: Store) -> None:
    keeper = ExpertiseKeeper(store.expertise)
    section = ExpertiseSection(keeper, lambda _: True)
    turn = await make_turn(store, message("hello"))
    await store.journal.finish(finish_of(turn, "done"))
    await happens(store, *(event("read") for _ in range(20)), *(event("exec", "error") for _ in range(9)))
    assert await section.write(turn) is None
    await happens(store, event("exec", "timeout"))
    await keeper.count()
    written = await section.write(turn)
    assert written is not None
    assert written[0].startswith("Tools that mostly failed of late: shell 0.07 (stable).")
    assert await ExpertiseSection(keeper, lambda _: False).write(turn) is None


async def test_failing_skill_is_rated_low_and_a_hardly_used_one_is_not(store: Store) -> None:
    keeper = ExpertiseKeeper(store.expertise)
    assert keeper.rating("exec") == 1.0
    await happens(store, *(event("exec", "error") for _ in range(12)), *(event("read") for _ in range(12)))
    await happens(store, event("web_search", "error"))
    await keeper.count()
    assert keeper.rating("exec") < 0.2
    assert (keeper.rating("read"), keeper.rating("web_fetch"), keeper.rating("tracker__get")) == (1.0, 1.0, 1.0)


def test_other_events_are_not_uses_of_a_skill() -> None:
    assert use_of(event("killed", kind=EventKind.SUBAGENT)) is None
