"""What one run of a turn holds in memory; nothing of it is needed to go on after a crash."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hob.agent.turn.dependencies import Stopwatch, TurnDependencies
from hob.agent.turn.record import Record
from hob.core.chunks import split_text
from hob.core.ids import digest
from hob.core.labels import SenderClass
from hob.core.messages import WEBHOOK_CHANNEL, Address, Inbound
from hob.core.models import ModelMessage, ModelRequest
from hob.core.ports.turns import Control
from hob.core.turns import Finish, Session, Turn, View


@dataclass(slots=True)
class TurnRun:
    """One run of one turn.

    `model` is the name that message, session or hook chose, `asked` the reference it stands for (or was asked last),
    `chain` what a route of this turn has chosen: it goes on with the models it began with.
    """

    parts: TurnDependencies
    turn: Turn
    control: Control
    record: Record
    session: Session
    model: str
    watch: Stopwatch
    asked: str = ""
    chain: tuple[str, ...] = ()
    view: View | None = None
    prompt_tokens: int = 0
    joined: list[Inbound] = field(default_factory=list)
    finish: Finish | None = None
    streamed: list[str] = field(default_factory=list)
    """The newest answer's text as far as people have seen it, while no step holds it."""

    @property
    def seconds_left(self) -> float:
        """How long this run may still take."""
        return self.parts.settings.run_seconds - self.watch.seconds

    def chunks_for(self, to: Address, text: str) -> tuple[str, ...]:
        """The text in pieces that this chat takes, without personal data where a stranger reads it."""
        writers = {inbound.sender.cls for inbound in (*self.turn.inbounds, *self.joined) if inbound.origin == to}
        if SenderClass.STRANGER in writers and to.channel != WEBHOOK_CHANNEL:  # whose senders are sent nothing
            text = self.parts.mask_personal(text)
        return split_text(text, self.parts.limit_of(to))

    async def steer(self) -> None:
        """Take in messages that arrived meanwhile, if the session queue hints at any."""
        offered = self.control.offered()
        if not offered:
            return
        inbounds = await self.record.steer(offered)
        self.joined.extend(inbounds)
        self.control.joined([inbound.id for inbound in inbounds])


def request_hash(request: ModelRequest) -> str:
    """What a model call is bound to: model, system text and every message."""
    return digest("\0".join(_texts(request)).encode("utf-8", "replace"))[:16]


def _texts(request: ModelRequest) -> Iterator[str]:
    yield request.model
    yield request.system
    for message in request.messages:
        yield from _message_texts(message)


def _message_texts(message: ModelMessage) -> Iterator[str]:
    yield message.text
    for call in getattr(message, "calls", ()):
        yield f"{call.id} {call.name} {call.arguments}"
