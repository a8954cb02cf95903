"""Twins of the bus's ports: scripted turns, commands from a table, an admission that admits everybody."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from hob.core.events.notices import Settled
from hob.core.ids import SessionKey, TurnId, outbox_id
from hob.core.messages import Inbound, Outbound, OutboundKind, Sender
from hob.core.ports.guard import Admitted, Refused
from hob.core.ports.journal import Journal
from hob.core.ports.notices import Notices
from hob.core.ports.turns import TurnControl
from hob.core.states import TurnState
from hob.core.trust.labels import SenderClass
from hob.core.turns import Finish, Finished, Outcome, QueueMode, Turn

Script = Callable[["ScriptedTurns", Turn, TurnControl], Awaitable[Outcome]]
Answering = Callable[[Inbound, SessionKey], Awaitable[str]]


class ScriptedTurns:
    """Implements `Turns`. The first word of a turn's first message chooses its script; without one it is echoed.

    `begun` and `ended` record what ran in which order, `maximum` how many turns ran at once, and `overlaps` the
    sessions in which two turns ran at the same time, which must never happen.
    """

    def __init__(
        self, journal: Journal, scripts: Mapping[str, Script] | None = None, notices: Notices | None = None
    ) -> None:
        self.journal = journal
        self.begun: list[Turn] = []
        self.ended: list[tuple[TurnId, TurnState, str]] = []
        self.maximum = 0
        self.overlaps: list[SessionKey] = []
        self._scripts = dict(scripts or {})
        self._notices = notices
        self._active: dict[SessionKey, TurnId] = {}

    @property
    def active(self) -> int:
        """Number of running turns."""
        return len(self._active)

    async def run(self, turn: Turn, control: TurnControl) -> Outcome:
        if turn.session in self._active:
            self.overlaps.append(turn.session)
        self._active[turn.session] = turn.id
        self.maximum = max(self.maximum, len(self._active))
        self.begun.append(turn)
        script = self._scripts.get(turn.inbounds[0].text.split(maxsplit=1)[0])
        try:
            return await (script(self, turn, control) if script else self.echo(turn))
        except asyncio.CancelledError:
            reason = control.stop_reason()
            if reason is None:
                raise
            return await self.finish(turn, f"stopped: {reason}", TurnState.CANCELLED, OutboundKind.NOTICE)
        finally:
            self._active.pop(turn.session, None)

    async def echo(self, turn: Turn) -> Outcome:
        """Answer with the message's text."""
        return await self.finish(turn, " + ".join(inbound.text for inbound in turn.inbounds))

    async def finish(
        self,
        turn: Turn,
        text: str,
        state: TurnState = TurnState.DONE,
        kind: OutboundKind = OutboundKind.REPLY,
    ) -> Finished:
        """End the turn with this text for everybody who takes part in it."""
        addresses = dict.fromkeys(inbound.origin for inbound in turn.inbounds)
        outbounds = tuple(
            Outbound(outbox_id(turn.id, n), address, text, kind, turn.id, turn.trace)
            for n, address in enumerate(addresses)
        )
        finish = Finish(turn.id, turn.session, state, (), outbounds, (), reply=text, kind=kind)
        await self.journal.finish(finish)
        self.ended.append((turn.id, state, text))
        if self._notices is not None:
            ids = tuple(inbound.id for inbound in turn.inbounds)
            self._notices.publish(Settled(turn.trace, turn.session, turn.id, state, text, kind, ids))
        return Finished(state)


class TableCommands:
    """Implements `Commands`: `/word` acts on arrival or in its session queue, as the tables say."""

    def __init__(
        self, arrival: Mapping[str, Answering] | None = None, session_queue: Mapping[str, Answering] | None = None
    ) -> None:
        self.arrival = dict(arrival or {})
        self.session_queue = dict(session_queue or {})

    def timing(self, text: str) -> str | None:
        word = text.split(maxsplit=1)[0] if text.strip() else ""
        return "arrival" if word in self.arrival else "lane" if word in self.session_queue else None

    async def run(self, inbound: Inbound, session: SessionKey) -> str:
        word = inbound.text.split(maxsplit=1)[0]
        return await (self.arrival.get(word) or self.session_queue[word])(inbound, session)


class ChatRouting:
    """Implements `Routing`: one session per chat, one mode for all."""

    def __init__(self, mode: QueueMode = QueueMode.STEER) -> None:
        self.mode = mode

    def session_of(self, inbound: Inbound) -> SessionKey:
        return SessionKey(inbound.origin.chat)

    def mode_of(self, channel: str) -> QueueMode:
        return self.mode


class OpenDoor:
    """Implements `Admission`: everybody is the owner, except ids that were blocked."""

    def __init__(self, *shut_out: str) -> None:
        self.shut_out = frozenset(shut_out)

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        if inbound.sender.id in self.shut_out:
            return Refused("shut out", "You may not.")
        return Admitted(Sender(inbound.sender.id, inbound.sender.name, SenderClass.OWNER), "owner")
