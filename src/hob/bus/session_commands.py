"""Slash commands in a session's queue: run them in order and record their answers."""

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from hob.bus.turn_runner import BusContext
from hob.core.content.chunks import split_text
from hob.core.errors import HobError, StoreError
from hob.core.events.notices import Settled
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import OutboxId, SessionKey, SpanId, TurnId, new_event_id, new_span_id
from hob.core.messages import Inbound, Outbound, OutboundKind
from hob.core.ports.turns import Commands
from hob.core.states import TurnState
from hob.core.translation.sentences import Sentence, say
from hob.store.messages.inbox import Waiting

log = logging.getLogger(__name__)

T = TypeVar("T")


class Persist(Protocol):
    """Runs store operations, retrying as often as necessary."""

    async def __call__(self, work: Callable[[], Awaitable[T]]) -> T: ...


async def run_command(commands: Commands, inbound: Inbound, session: SessionKey, language: str) -> str:
    """Return the command's answer, or a message about its failure, so that no command blocks its queue. Raises
    StoreErrors.
    """
    try:
        return await commands.run(inbound, session)
    except StoreError:
        raise
    except HobError as error:
        return str(error)
    except Exception:  # errors of commands end here
        log.exception("the command /%s broke", command_name(inbound.text))
        return say(Sentence.COMMAND_FAILED, language, name=command_name(inbound.text))


async def run_queued_command(context: BusContext, commands: Commands, row: Waiting, persist: Persist) -> None:
    """Run the next command and record its answer."""
    inbound = row.inbound
    began, at = context.clock.monotonic(), context.clock.now().timestamp()
    answer = await persist(lambda: run_command(commands, inbound, row.session, context.language))
    seconds = context.clock.monotonic() - began
    event = command_event(inbound, answer, session=row.session, parent=None, at=at, seconds=seconds)
    outbounds = command_outbounds(inbound, answer, context.limit_of(inbound.origin))
    await persist(lambda: context.store.inbox.settle_command(row, answer, outbounds, (event,)))
    # It has a turn in the store, but the turn's id is not used.
    settled = Settled(inbound.trace, row.session, TurnId(""), TurnState.DONE, answer, inbounds=(inbound.id,))
    context.hub.publish(settled)
    context.outbox((inbound.origin,))


def command_outbounds(inbound: Inbound, answer: str, limit: int) -> tuple[Outbound, ...]:
    """Return the answer as messages the channel can send; `limit` 0 means any length."""
    chunks = split_text(answer, limit) if limit else (answer,)
    return tuple(
        Outbound(OutboxId(f"{inbound.id}.{n}"), inbound.origin, text, OutboundKind.REPLY, None, inbound.trace, n)
        for n, text in enumerate(chunks)
    )


def command_event(
    inbound: Inbound, answer: str, *, session: SessionKey, parent: SpanId | None, at: float, seconds: float
) -> TimelineEvent:
    """Return the timeline event of an answered command."""
    return TimelineEvent(
        id=new_event_id(),
        trace=inbound.trace,
        span=new_span_id(),
        parent=parent,
        at=at,
        kind=EventKind.COMMAND,
        name=command_name(inbound.text),
        session=session,
        text=answer,
        seconds=seconds,
    )


def command_name(text: str) -> str:
    """Return the name of a slash command."""
    return text.split(maxsplit=1)[0].removeprefix("/")
