"""Messages that Hob sends to itself: a child's task, a scheduled job, a note.

Text written in a turn is trusted no more than what the turn has read. Otherwise an untrusted text could have itself
written down as a task and return as the owner's word.
"""

from hob.core.ids import InboundId
from hob.core.messages import Address, Inbound, Sender
from hob.core.trust.labels import Label, Origin, Trust, least_trusted
from hob.core.turns import Turn

SELF = "hob"
"""Sender of Hob's messages to itself."""


def make_self_message(turn: Turn, trust: Trust, text: str, *, id: InboundId, key: str, to: Address) -> Inbound:
    """Return a message to `to` that was written in this turn.

    `trust` is that of the request whose answer it is. It was not typed, so it never counts as the owner's word,
    even if trusted: it answers no question and waives none. Its sender class is the least trusted of the turn's
    senders, and its hop count is one higher than theirs.
    """
    people = (*turn.inbounds, *turn.joined)
    cls = least_trusted(inbound.sender.cls for inbound in people)
    clean = trust is Trust.TRUSTED and all(inbound.label.trusted for inbound in people)
    return Inbound(
        id,
        key,
        to,
        Sender(SELF, "Hob", cls),
        text,
        Label(Origin.MODEL, Trust.TRUSTED if clean else Trust.UNTRUSTED),
        turn.trace,
        hops=1 + max((inbound.hops for inbound in people), default=0),
        background=True,
        group=any(inbound.group for inbound in people),
    )
