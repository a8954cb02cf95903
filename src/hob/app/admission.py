"""Who may come in where every door is the owner's own: for programs that open Hob with a channel of theirs."""

from dataclasses import replace

from hob.core.labels import SenderClass
from hob.core.messages import FETCHED_CHANNELS, Inbound
from hob.core.ports.guard import Admitted, Refused


class OwnerOnly:
    """Implements `Admission`: these channels are the owner's, and nobody else comes in."""

    def __init__(self, channels: frozenset[str] = FETCHED_CHANNELS) -> None:
        self._channels = channels

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        if inbound.origin.channel in self._channels:
            return Admitted(replace(inbound.sender, cls=SenderClass.OWNER), classification="owner")
        return Refused(f"nobody is admitted on {inbound.origin.channel}")
