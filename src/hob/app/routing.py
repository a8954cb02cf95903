"""Which conversation a message belongs to: the agent's rules and the bus's settings, joined."""

from hob.agent import session_of
from hob.bus import BusSettings
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.turns import QueueMode


class ChatRouting:
    """Implements `Routing`."""

    def __init__(self, settings: BusSettings) -> None:
        self._settings = settings

    def session_of(self, inbound: Inbound) -> SessionKey:
        return session_of(inbound)

    def mode_of(self, channel: str) -> QueueMode:
        return QueueMode(self._settings.mode_of(channel))
