"""Detection of repeated calls."""

import pytest

from hob.agent.turn.loops import Level, LoopFinding, LoopRules, SeenCall, find_loop, seen, signature_of
from hob.core.ids import CallId
from hob.core.tools import ToolCall

RULES = LoopRules(warning=3, critical=5, breaker=8)


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(CallId("c"), name, arguments)


def about(history: list[SeenCall], next_call: ToolCall) -> LoopFinding | None:
    return find_loop(history, next_call.name, signature_of(next_call), RULES)


def level(history: list[SeenCall], next_call: ToolCall) -> tuple[str, Level] | None:
    found = about(history, next_call)
    return None if found is None else (found.detector, found.level)


READ = call("read", '{"path":"a"}')


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (0, None),
        (2, None),
        (3, ("generic_repeat", Level.WARNING)),
        (4, ("generic_repeat", Level.WARNING)),
        (5, ("generic_repeat", Level.CRITICAL)),
        (9, ("no_progress", Level.BREAKER)),
    ],
)
def test_same_call_with_the_same_outcome(times: int, found: tuple[str, Level] | None) -> None:
    assert level([seen(READ, "x")] * times, READ) == found


def test_repeated_call_with_changing_results_is_never_refused() -> None:
    history = [seen(READ, f"line {'abcdefghijkl'[n]}") for n in range(12)]
    assert level(history, READ) == ("generic_repeat", Level.WARNING)


def test_other_arguments_are_another_call() -> None:
    history = [seen(call("read", f'{{"n":{n}}}'), str(n)) for n in range(7)]
    assert level(history, READ) is None


def test_order_of_keys_does_not_matter() -> None:
    assert signature_of(call("x", '{"a":1,"b":2}')) == signature_of(call("x", '{ "b": 2, "a": 1 }'))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2026-01-01T10:00:00Z", "at 2026-01-02T11:30:05Z"),
        ("took 12.5 ms", "took 3 ms"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174fff"),
        ("commit deadbeefdeadbeef", "commit 0123456789abcdef"),
    ],
)
def test_changed_ids_and_times_are_not_progress(one: str, other: str) -> None:
    assert seen(READ, one).outcome == seen(READ, other).outcome


def test_changed_numbers_are_progress() -> None:
    assert seen(READ, "3 tests failed").outcome != seen(READ, "2 tests failed").outcome


def test_polling_is_allowed_while_something_changes() -> None:
    poll = call("process", '{"action":"poll"}')
    assert level([seen(poll, f"{'abcdefgh'[n]}") for n in range(8)], poll) is None
    assert level([seen(poll, "still")] * 3, poll) == ("known_poll_no_progress", Level.WARNING)
    assert level([seen(poll, "still")] * 5, poll) == ("known_poll_no_progress", Level.CRITICAL)


@pytest.mark.parametrize(("rounds", "found"), [(1, None), (2, Level.WARNING), (3, Level.CRITICAL)])
def test_alternating_calls_are_a_loop(rounds: int, found: Level | None) -> None:
    left, right = call("left"), call("right")
    history = [seen(left, "l"), seen(right, "r")] * rounds
    assert level(history, left) == (None if found is None else ("ping_pong", found))
    assert level(history, READ) is None


def test_alternating_calls_with_progress_are_allowed() -> None:
    edit, test = call("edit"), call("test")
    history = [item for n in range(2) for item in (seen(edit, "ok"), seen(test, "abc"[n]))]
    assert level(history, edit) is None


def test_unknown_tool_is_refused_after_some_attempts() -> None:
    history = [seen(call("nope", f'{{"n":{n}}}'), "no such tool", unknown=True) for n in range(3)]
    assert level(history, call("nope")) == ("unknown_tool", Level.CRITICAL)


def test_calls_without_progress_end_the_turn() -> None:
    ring = [call(name) for name in ("a", "b", "c")]
    history = [seen(item, item.name) for item in ring * 4]
    assert level(history, READ) == ("no_progress", Level.BREAKER)
    assert level([*history, seen(READ, "new")], READ) is None
