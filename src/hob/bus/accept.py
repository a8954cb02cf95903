"""Accepting a message: admit its sender, check its key, store it, and only then acknowledge it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from hob.bus.session_commands import command_event, run_command
from hob.bus.turn_runner import BusContext
from hob.core.errors import Busy, InvalidRequest, KeyReused, NotAllowed, ShuttingDown, StoreError, StoreFull
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.events.tracing import content_free
from hob.core.ids import ONE_TURN_PREFIX, InboundId, SessionKey, new_event_id, new_span_id
from hob.core.messages import POLLED_CHANNELS, Inbound, MediaType
from hob.core.ports.accept import Accepted
from hob.core.ports.guard import Admission, Admitted, Refused
from hob.core.ports.turns import Commands
from hob.core.translation.language import translatable
from hob.core.translation.sentences import BUSY_SENTENCES, Sentence, format_duration, say
from hob.core.trust.labels import HOB_LABEL, Origin
from hob.store.messages.inbox import InboxLimits

log = logging.getLogger(__name__)


class Questions(Protocol):
    """Open questions of turns to their users (`ask_user`)."""

    async def answer(self, inbound: Inbound, session: SessionKey, event: TimelineEvent) -> Accepted | None:
        """Record the message as the awaited answer and wake the turn; return None if no question is open."""


Arrived = Callable[[Inbound, SessionKey, bool], None]
"""Called with a message that is now in the inbox, its session and whether it is a command."""
Adopt = Callable[[InboundId], Awaitable[bool]]


class Acceptor:
    """Implements `Accept`."""

    def __init__(
        self,
        context: BusContext,
        *,
        commands: Commands,
        admission: Admission,
        arrived: Arrived,
        adopt: Adopt | None = None,
        questions: Questions | None = None,
    ) -> None:
        """`adopt` is called if a message arrives again that was already accepted, perhaps by an earlier process."""
        self._context = context
        self._commands = commands
        self._admission = admission
        self._arrived = arrived
        self._adopt = adopt
        self._questions = questions
        settings = context.settings
        self._limits = InboxLimits(
            session_queue=settings.session_waiting,
            sender=settings.sender_waiting,
            total=settings.total_waiting,
            self_made_per_hour=settings.self_made_per_hour,
        )
        self._answering: dict[tuple[str, str, str], asyncio.Event] = {}

    def stop(self) -> None:
        """Refuse every further message with ShuttingDown."""
        self._context.accepting = False

    async def __call__(self, inbound: Inbound) -> Accepted:
        """Make the message durable; see `Accept`. Refusals are explained in the configured language."""
        language = self._context.language
        try:
            return await self._accept(inbound)
        except Busy as busy:
            text = say(BUSY_SENTENCES[busy.scope], language, wait=format_duration(busy.retry_after, language))
            raise Busy(busy.scope, busy.retry_after, text) from busy
        except StoreFull as full:
            raise StoreFull(say(Sentence.STORE_FULL, language)) from full
        except StoreError as error:
            raise type(error)(say(Sentence.STORE_TROUBLE, language, detail=error)) from error

    async def _accept(self, inbound: Inbound) -> Accepted:
        if not self._context.accepting:
            raise ShuttingDown(say(Sentence.STOPPING, self._context.language))
        if not inbound.key:
            raise InvalidRequest(translatable("the message has no key"))
        # Admission is first: a refused sender learns nothing else, and the text it checks is bounded.
        admitted = self._admit(self._truncate(inbound))
        self._check(inbound)
        inbound = admitted.inbound or replace(inbound, sender=admitted.sender)
        session = inbound.session or self._context.routing.session_of(inbound)
        event = self._event(inbound, session, admitted.classification)
        when = self._commands.timing(inbound.text)
        accepted = await self._dispatch(inbound, session, event, when)
        if accepted.duplicate and inbound.origin.channel in POLLED_CHANNELS:
            await self._check_same(inbound, accepted.id)
        return accepted

    async def _dispatch(
        self, inbound: Inbound, session: SessionKey, event: TimelineEvent, when: str | None
    ) -> Accepted:
        if when == "arrival":
            return await self._answer_command(inbound, session, event)
        if when is None and self._questions is not None:
            taken = await self._questions.answer(inbound, session, event)
            if taken is not None:
                return taken
        return await self._enqueue(inbound, session, event, command=when is not None)

    async def _check_same(self, inbound: Inbound, first: InboundId) -> None:
        """Raise KeyReused if a client used one key for two messages; a platform's keys identify the message, however
        edited.
        """
        earlier = await self._context.store.inbox.find_inbound(first)
        if earlier is not None and _content_of(earlier) != _content_of(inbound):
            raise KeyReused(
                translatable("this key belongs to an earlier message that says something else; choose another")
            )

    def _truncate(self, inbound: Inbound) -> Inbound:
        limit = self._context.settings.max_text
        return inbound if _length(inbound) <= limit else replace(inbound, text=inbound.text[:limit], quoted=())

    def _check(self, inbound: Inbound) -> None:
        length = _length(inbound)
        if length > self._context.settings.max_text:
            limit = self._context.settings.max_text
            raise InvalidRequest(say(Sentence.TOO_LONG, self._context.language, length=length, limit=limit))
        if not (inbound.text.strip() or inbound.quoted or inbound.attachments):
            raise InvalidRequest(say(Sentence.EMPTY_MESSAGE, self._context.language))
        if inbound.hops > self._context.settings.max_hops:
            raise NotAllowed(
                translatable(
                    "{hops} self-made messages in a row; bus.max_hops is {max_hops}",
                    hops=inbound.hops,
                    max_hops=self._context.settings.max_hops,
                )
            )

    def _admit(self, inbound: Inbound) -> Admitted:
        match self._admission.admit(inbound):
            case Admitted() as admitted:
                return admitted
            case Refused() as refused:
                raise NotAllowed(refused.reason, line=refused.line)

    async def _enqueue(self, inbound: Inbound, session: SessionKey, event: TimelineEvent, *, command: bool) -> Accepted:
        quiet = 0.0 if command or inbound.attachments else self._context.settings.debounce_of(inbound.origin.channel)
        accepted = await self._context.store.inbox.accept(
            inbound,
            session=session,
            limits=self._limits,
            not_before=self._context.clock.now().timestamp() + quiet,
            command=command,
            event=event,
        )
        if not accepted.duplicate:
            channel, cls = inbound.origin.channel, inbound.sender.cls
            log.info("message %s accepted from %s, %s", inbound.id, channel, cls, extra=content_free(inbound.trace))
            self._arrived(inbound, accepted.session, command)
        elif self._adopt is not None:
            await self._adopt(accepted.id)
        return accepted

    async def _answer_command(self, inbound: Inbound, session: SessionKey, event: TimelineEvent) -> Accepted:
        # A second message with the same key waits for the first one's answer instead of running the command again.
        key = (inbound.origin.channel, inbound.origin.account, inbound.key)
        while (earlier := self._answering.get(key)) is not None:
            await earlier.wait()
        self._answering[key] = asyncio.Event()
        try:
            found = await self._context.store.inbox.find_key(*key)
            if found is not None:
                return found
            if inbound.session is None:
                session = await self._context.store.sessions.switched(inbound.origin.key()) or session
            began = self._context.clock.monotonic()
            answer = await run_command(self._commands, inbound, session, self._context.language)
            event = replace(event, session=session)
            reply = command_event(
                inbound,
                answer,
                session=session,
                parent=event.span,
                at=self._context.clock.now().timestamp(),
                seconds=self._context.clock.monotonic() - began,
            )
            return await self._context.store.inbox.answered(
                inbound, session=session, answer=answer, event=event, reply_event=reply
            )
        finally:
            self._answering.pop(key).set()

    def _event(self, inbound: Inbound, session: SessionKey, classification: str) -> TimelineEvent:
        return TimelineEvent(
            id=new_event_id(),
            trace=inbound.trace,
            span=new_span_id(),
            parent=None,
            at=self._context.clock.now().timestamp(),
            kind=EventKind.INBOUND,
            name=inbound.origin.channel,
            type=_media_type(inbound),
            session=session,
            sender_id=inbound.sender.id,
            sender_name=inbound.sender.name,
            classification=classification,
            label=inbound.label,
            text=inbound.text,
            media=next((file.blob for file in inbound.attachments if file.blob), None),
        )


def _length(inbound: Inbound) -> int:
    """Return the length of the new text. An earlier conversation sent along by a client is limited where it arrives."""
    now = (part.text for part in inbound.quoted if part.label.origin is not Origin.CLIENT)
    return len(inbound.text) + sum(map(len, now))


def _content_of(inbound: Inbound) -> tuple[object, ...]:
    """Return what identifies a message's content and destination, without notes added by admission."""
    quoted = [part.text for part in inbound.quoted if part.label != HOB_LABEL]
    once = inbound.session is not None and inbound.session.startswith(ONE_TURN_PREFIX)  # each has its own name
    where = ONE_TURN_PREFIX if once else (inbound.session, inbound.origin.chat)
    return inbound.text, quoted, [file.blob for file in inbound.attachments], inbound.model, where


def _media_type(inbound: Inbound) -> MediaType:
    if not inbound.attachments:
        return MediaType.TEXT
    kind = inbound.attachments[0].media_type.partition("/")[0]
    return {"audio": MediaType.AUDIO, "image": MediaType.IMAGE}.get(kind, MediaType.TEXT)
