"""Messages that Hob sends to itself: a child's task, a job for later, a note.

What is written in a turn is worth what the turn had read. Were it not so, a text that may not be followed could have
itself written down as a task, and would come back as the owner's word.
"""

from hob.core.ids import InboundId
from hob.core.messages import Address, Inbound, Sender
from hob.core.trust.labels import Label, Origin, Trust, least_known
from hob.core.turns import Turn

SELF = "hob"
"""The sender of what Hob says to itself."""


def self_made(turn: Turn, trust: Trust, text: str, *, id: InboundId, key: str, to: Address) -> Inbound:
    """A message to `to` that was written in this turn.

    `trust` is that of the request whose answer it is. No one typed it, so it is never the owner's word, even where it
    is trusted: it answers no question and waives none. It counts for the least known of those the turn works for, and
    its way from a person's message is one longer than theirs.
    """
    people = (*turn.inbounds, *turn.joined)
    cls = least_known(inbound.sender.cls for inbound in people)
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
