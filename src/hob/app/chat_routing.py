"""Choosing the session of a message, by the agent's rules, the bus settings and the known people."""

from hob.agent.sessions import session_of
from hob.bus.settings import BusSettings
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.turns import QueueMode
from hob.guard.admission.people import People, person_session


class ChatRouting:
    """Implements `Routing`. With `people`, each person has one session across all direct chats."""

    def __init__(self, settings: BusSettings, people: People | None = None) -> None:
        self._settings = settings
        self._people = people

    def session_of(self, inbound: Inbound) -> SessionKey:
        person = None if self._people is None else person_session(inbound, self._people)
        return person or session_of(inbound)

    def mode_of(self, channel: str) -> QueueMode:
        return QueueMode(self._settings.mode_of(channel))
