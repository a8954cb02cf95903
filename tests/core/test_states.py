"""The tables of states and moves."""

from collections.abc import Mapping
from enum import StrEnum

import pytest

from hob.core.states import (
    APPROVAL_MOVES,
    FINAL_TURNS,
    INBOX_MOVES,
    OUTBOX_MOVES,
    TASK_MOVES,
    TASK_OF_TURN,
    TURN_MOVES,
    ApprovalState,
    InboxState,
    OutboxState,
    TaskState,
    TurnState,
    may_move,
)

Table = Mapping[StrEnum, frozenset[StrEnum]]
TABLES = {
    "inbox": (InboxState, INBOX_MOVES),
    "turn": (TurnState, TURN_MOVES),
    "task": (TaskState, TASK_MOVES),
    "approval": (ApprovalState, APPROVAL_MOVES),
    "outbox": (OutboxState, OUTBOX_MOVES),
}


@pytest.mark.parametrize(("states", "moves"), TABLES.values(), ids=TABLES)
def test_every_state_has_a_row_that_leads_to_known_states(states: type[StrEnum], moves: Table) -> None:
    assert set(moves) == set(states)
    assert all(new in states for news in moves.values() for new in news)


@pytest.mark.parametrize(("states", "moves"), TABLES.values(), ids=TABLES)
def test_every_state_can_be_reached_from_the_first(states: type[StrEnum], moves: Table) -> None:
    reached = {next(iter(states))}
    while more := {new for old in reached for new in moves[old]} - reached:
        reached |= more
    assert reached == set(states)


@pytest.mark.parametrize(("states", "moves"), TABLES.values(), ids=TABLES)
def test_staying_in_a_state_is_always_allowed(states: type[StrEnum], moves: Table) -> None:
    assert all(may_move(moves, state, state) for state in states)
    assert all(state not in news for state, news in moves.items())


@pytest.mark.parametrize(("states", "moves"), TABLES.values(), ids=TABLES)
def test_every_state_has_a_way_to_an_end(states: type[StrEnum], moves: Table) -> None:
    ends = {state for state in states if not moves[state]} or {OutboxState.SENT}
    for begin in states:
        reached = {begin}
        while more := {new for old in reached for new in moves[old]} - reached:
            reached |= more
        assert reached & ends, begin


def test_ended_turn_continues_only_by_retry() -> None:
    assert all(TURN_MOVES[state] <= {TurnState.READY} for state in FINAL_TURNS)
    assert TURN_MOVES[TurnState.DONE] == frozenset()


@pytest.mark.parametrize("old", TurnState)
def test_tasks_moves_can_follow_its_turns(old: TurnState) -> None:
    for new in TURN_MOVES[old]:
        assert may_move(TASK_MOVES, TASK_OF_TURN[old], TASK_OF_TURN[new]), (old, new)
