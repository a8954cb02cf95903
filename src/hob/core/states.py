"""State machines of messages, turns, tasks, approvals and replies, as tables of allowed transitions.

A state that is not a key of its table does not exist, and the store refuses a transition that is not listed. Tests loop
over the tables, and the diagrams in the documentation are drawn from them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar


class InboxState(StrEnum):
    """State of an accepted message until its outcome."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    SETTLED = "settled"


class TurnState(StrEnum):
    """State of the work on one or more inbounds."""

    READY = "ready"
    RUNNING = "running"
    PARKED = "parked"
    DONE = "done"
    SILENT = "silent"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SET_ASIDE = "set_aside"


class TaskState(StrEnum):
    """State of a unit of work that the user can see."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ApprovalState(StrEnum):
    """State of a request for approval."""

    OPEN = "open"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    USED = "used"


class OutboxState(StrEnum):
    """State of one chunk of a reply until it is delivered."""

    READY = "ready"
    SENDING = "sending"
    SENT = "sent"
    SKIPPED = "skipped"
    PARKED = "parked"
    DEAD = "dead"


INBOX_MOVES: Mapping[InboxState, frozenset[InboxState]] = {
    InboxState.WAITING: frozenset({InboxState.CLAIMED, InboxState.SETTLED}),
    InboxState.CLAIMED: frozenset({InboxState.SETTLED}),
    InboxState.SETTLED: frozenset(),
}

TURN_MOVES: Mapping[TurnState, frozenset[TurnState]] = {
    TurnState.READY: frozenset({TurnState.RUNNING, TurnState.CANCELLED, TurnState.SET_ASIDE}),
    TurnState.RUNNING: frozenset(
        {
            TurnState.READY,  # a clean shutdown, or found running after a crash
            TurnState.PARKED,
            TurnState.DONE,
            TurnState.SILENT,
            TurnState.FAILED,
            TurnState.CANCELLED,
            TurnState.SET_ASIDE,
        }
    ),
    TurnState.PARKED: frozenset({TurnState.READY, TurnState.CANCELLED}),
    TurnState.DONE: frozenset(),
    TurnState.SILENT: frozenset(),
    TurnState.FAILED: frozenset({TurnState.READY}),  # hob retry
    TurnState.CANCELLED: frozenset(),
    TurnState.SET_ASIDE: frozenset({TurnState.READY}),  # hob retry
}

TASK_MOVES: Mapping[TaskState, frozenset[TaskState]] = {
    TaskState.PENDING: frozenset({TaskState.RUNNING, TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED}),
    TaskState.RUNNING: frozenset(
        {TaskState.PENDING, TaskState.WAITING, TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED}
    ),
    TaskState.WAITING: frozenset({TaskState.PENDING, TaskState.RUNNING, TaskState.FAILED, TaskState.CANCELLED}),
    TaskState.DONE: frozenset(),
    TaskState.FAILED: frozenset({TaskState.PENDING}),  # hob retry
    TaskState.CANCELLED: frozenset(),
}

APPROVAL_MOVES: Mapping[ApprovalState, frozenset[ApprovalState]] = {
    ApprovalState.OPEN: frozenset({ApprovalState.ALLOWED, ApprovalState.DENIED, ApprovalState.EXPIRED}),
    ApprovalState.ALLOWED: frozenset({ApprovalState.USED, ApprovalState.EXPIRED}),
    ApprovalState.DENIED: frozenset(),
    ApprovalState.EXPIRED: frozenset(),
    ApprovalState.USED: frozenset(),
}

OUTBOX_MOVES: Mapping[OutboxState, frozenset[OutboxState]] = {
    OutboxState.READY: frozenset({OutboxState.SENDING, OutboxState.SKIPPED, OutboxState.DEAD}),
    OutboxState.SENDING: frozenset({OutboxState.SENT, OutboxState.READY, OutboxState.PARKED, OutboxState.DEAD}),
    OutboxState.SENT: frozenset(),
    OutboxState.SKIPPED: frozenset(),  # silent mode
    OutboxState.PARKED: frozenset({OutboxState.READY, OutboxState.DEAD}),
    OutboxState.DEAD: frozenset({OutboxState.READY}),  # hob retry
}

FINAL_TURNS = frozenset({TurnState.DONE, TurnState.SILENT, TurnState.FAILED, TurnState.CANCELLED, TurnState.SET_ASIDE})

TASK_OF_TURN: Mapping[TurnState, TaskState] = {
    TurnState.READY: TaskState.PENDING,
    TurnState.RUNNING: TaskState.RUNNING,
    TurnState.PARKED: TaskState.WAITING,
    TurnState.DONE: TaskState.DONE,
    TurnState.SILENT: TaskState.DONE,
    TurnState.FAILED: TaskState.FAILED,
    TurnState.CANCELLED: TaskState.CANCELLED,
    TurnState.SET_ASIDE: TaskState.FAILED,
}

S = TypeVar("S", bound=StrEnum)


def may_move(moves: Mapping[S, frozenset[S]], old: S, new: S) -> bool:
    """Whether the table allows this transition; staying in a state is always allowed."""
    return old == new or new in moves[old]
