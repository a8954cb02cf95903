"""Selection of the waiting messages that form a session's next job. Pure functions."""

from collections.abc import Callable, Sequence

from hob.core.messages import Inbound
from hob.core.turns import QueueMode
from hob.store.messages.inbox import Waiting

MERGING_MODES = frozenset({QueueMode.COLLECT, QueueMode.INTERRUPT})
"""Modes that merge waiting messages into one turn. In `steer` they may also join the running turn."""


def next_batch(rows: Sequence[Waiting], mode: QueueMode, debounce_of: Callable[[str], float]) -> tuple[Waiting, ...]:
    """Return the head of the queue and the messages that belong to its turn; none overtakes another.

    A command is always a job of its own. Messages are merged only if one reply reaches all senders, so only from one
    address.
    """
    head = rows[0]
    batch = [head]
    if head.command:
        return (head,)
    debounce = debounce_of(head.inbound.origin.channel)
    for row in rows[1:]:
        if row.command or not _share_reply(head, row):
            break
        if mode not in MERGING_MODES and not _continues(batch[-1], row, debounce):
            break
        batch.append(row)
    return tuple(batch)


def is_batch_complete(rows: Sequence[Waiting], batch: Sequence[Waiting], debounce_of: Callable[[str], float]) -> bool:
    """Whether no later message could join the batch, so that waiting is pointless."""
    last = batch[-1].inbound
    return len(rows) > len(batch) or bool(last.attachments) or debounce_of(last.origin.channel) <= 0


def messages_before_command(rows: Sequence[Waiting]) -> tuple[Waiting, ...]:
    """Return the messages before the first command, which may join a running turn."""
    plain = []
    for row in rows:
        if row.command:
            break
        plain.append(row)
    return tuple(plain)


def can_join(first: Inbound, later: Inbound) -> bool:
    """Whether a turn started by `first` can include `later`: neither asks for another model or other handling."""
    return later.model in (None, first.model) and later.background == first.background


def _share_reply(head: Waiting, row: Waiting) -> bool:
    """Whether one turn and one reply can serve both."""
    first, other = head.inbound, row.inbound
    return (first.origin, first.model, first.background) == (other.origin, other.model, other.background)


def _continues(earlier: Waiting, later: Waiting, debounce: float) -> bool:
    """Whether the later text continues the earlier one: same sender, no files, within the debounce."""
    return (
        debounce > 0
        and earlier.inbound.sender.id == later.inbound.sender.id
        and not earlier.inbound.attachments
        and not later.inbound.attachments
        and later.not_before - earlier.not_before <= debounce
    )
