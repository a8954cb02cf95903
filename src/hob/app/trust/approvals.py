"""Approvals from question to effect, connecting the ledger, the bus and live views."""

import asyncio
import logging
from collections.abc import Sequence

from hob.bus.session_commands import command_event
from hob.bus.session_queues import SessionQueues
from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotAllowed, NotFound, StoreError
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import ApprovalId, SessionKey, TurnId
from hob.core.messages import Inbound
from hob.core.ports.accept import Accepted
from hob.core.states import ApprovalState
from hob.core.steps import ApprovalAnswered, ApprovalAsked
from hob.core.tools import ToolCall
from hob.core.translation.command_answers import Answer as Line
from hob.core.translation.command_answers import answer as say
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn, WaitsFor
from hob.guard.approvals.answers import ApprovalReply, ApprovalScope, parse_answer
from hob.guard.approvals.ledger import AnswerResult, ApprovalLedger, ApprovalOutcome
from hob.guard.audit.entries import of_action
from hob.guard.settings import ApprovalSettings
from hob.store.approvals import Approval, Grant
from hob.store.store import Store

_NOTE_SECONDS = 60.0

log = logging.getLogger(__name__)


class ApprovalService:
    """Implements the agent's `Approvals` and the bus's `Questions`."""

    def __init__(
        self, store: Store, session_queues: SessionQueues, ledger: ApprovalLedger, clock: Clock, language: str
    ) -> None:
        self._store = store
        self._session_queues = session_queues
        self._ledger = ledger
        self._clock = clock
        self._language = language
        self._stands = asyncio.Event()

    def reconfigure(self, settings: ApprovalSettings) -> None:
        """Apply a new expiry time to open questions."""
        self._ledger.reconfigure(settings)

    # for the turn

    async def ask(self, call: ToolCall, reason: str, turn: Turn) -> ApprovalId:
        id = await self._ledger.ask(call, reason, turn)
        self._stands.set()
        return id

    async def render_question(self, approval: ApprovalId) -> str:
        return await self._ledger.render_question(approval)

    async def find_answer(self, question: ApprovalAsked) -> ApprovalAnswered | None:
        return await self._ledger.find_answer(question)

    # for the bus

    async def answer(self, inbound: Inbound, session: SessionKey, event: TimelineEvent) -> Accepted | None:
        """Handle a message that answers a turn's question; return None if it answers none. Raises StoreErrors."""
        asking = await self._store.turns.parked((WaitsFor.ANSWER,), session)
        said = parse_answer(inbound.text)
        if said is not None:
            taken = await self._decide(said, inbound, session, event, in_doubt=bool(asking))
            if taken is not None:
                return taken
        if not asking or not inbound.text.strip() or inbound.attachments:
            return None
        accepted = await self._store.inbox.join(inbound, session=session, turn=asking[0], event=event)
        if accepted is not None and not accepted.duplicate:
            await self._wake(asking[0])
        return accepted

    async def _decide(
        self, said: ApprovalReply, inbound: Inbound, session: SessionKey, event: TimelineEvent, *, in_doubt: bool
    ) -> Accepted | None:
        origin = inbound.origin
        earlier = await self._store.inbox.find_key(origin.channel, origin.account, inbound.key)
        if earlier is not None:
            return earlier
        began = self._clock.monotonic()
        await self._expire()
        waiting = await self._store.approvals.open(session)
        if said.id is None and len(waiting) == 1 and not in_doubt:
            in_doubt = not await self._store.approvals.is_last_message(waiting[0], origin)
        answered = await self._ledger.answer(said, inbound, waiting, in_doubt=in_doubt)
        if answered.outcome is ApprovalOutcome.UNCLEAR:
            return None
        if answered.outcome is ApprovalOutcome.TAKEN:
            await self._wake_answered(answered)
        text = self._line(answered)
        reply = command_event(
            inbound,
            text,
            session=session,
            parent=event.span,
            at=self._clock.now().timestamp(),
            seconds=self._clock.monotonic() - began,
        )
        return await self._store.inbox.answered(inbound, session=session, answer=text, event=event, reply_event=reply)

    # for the command line and the API

    async def open(self) -> Sequence[Approval]:
        """Return the open questions, oldest first. Raises StoreErrors."""
        await self._expire()
        return await self._store.approvals.open()

    async def find(self, id: str) -> Approval:
        """Return one question, answered or not. Raises NotFound."""
        found = await self._store.approvals.find(id)
        if found is None:
            raise NotFound(translatable("there is no question {id}; `hob approvals` lists the open ones", id=id))
        return found

    async def settle(self, id: str, *, allowed: bool, scope: str, by: str) -> tuple[Approval, str]:
        """Answer as the authenticated owner. Return the question and a line for people. Repeating an answer is allowed.

        Raises NotFound, NotAllowed, InvalidRequest.
        """
        await self._expire()
        await self.find(id)
        try:
            reach = ApprovalScope(scope)
        except ValueError:
            raise InvalidRequest(
                translatable(
                    "invalid scope {scope!r} of an approval; choose {approvalscope}",
                    scope=scope,
                    approvalscope=", ".join(ApprovalScope),
                )
            ) from None
        answered = await self._ledger.settle(ApprovalId(id), ApprovalReply(allowed, ApprovalId(id), reach), by)
        if answered.approval is None or not (
            answered.outcome is ApprovalOutcome.TAKEN or _is_same_answer(answered.approval, allowed, reach)
        ):
            raise NotAllowed(answered.line)
        await self._wake_answered(answered)
        return answered.approval, self._line(answered)

    def scopes(self, approval: Approval) -> Sequence[str]:
        """Return the scopes that an approval may have here."""
        return [scope.value for scope in self._ledger.scopes(approval)]

    async def grants(self) -> Sequence[Grant]:
        """Return the approvals that cover more than one call, oldest first. Raises StoreErrors."""
        return await self._store.approvals.grants()

    async def revoke(self, id: str) -> None:
        """Revoke a grant. Raises NotFound."""
        if not await self._store.approvals.revoke(id, of_action("grant.revoke", "done", SenderClass.OWNER, target=id)):
            raise NotFound(translatable("there is no approval {id}; `hob approvals grants` lists them", id=id))

    def _line(self, answered: AnswerResult) -> str:
        approval = answered.approval
        if answered.outcome is not ApprovalOutcome.TAKEN or approval is None:
            return answered.line
        line = Line.APPROVAL_ALLOWED if approval.state is ApprovalState.ALLOWED else Line.APPROVAL_DENIED
        return "\n".join(filter(None, (say(line, self._language, tool=approval.tool), answered.line)))

    async def _wake_answered(self, answered: AnswerResult) -> None:
        self._stands.set()
        if answered.approval is not None:
            await self._wake(answered.approval.turn)

    async def _wake(self, turn: TurnId) -> None:
        await self._session_queues.wake(turn)

    # time

    async def run(self) -> None:
        """Wake turns whose questions expire, until cancelled; first, those with undelivered answers."""
        await self._ledger.load()
        for turn in await self._store.turns.answered_but_parked():
            await self._wake(turn)
        while True:
            end = self._ledger.next_end
            if end is None:
                self._stands.clear()
                await self._stands.wait()
                continue
            await self._clock.sleep(max(0.0, min(end - self._clock.monotonic(), _NOTE_SECONDS)))
            try:
                await self._expire()
                await self._ledger.note()
            except StoreError as error:
                log.error("questions wait for the store: %s", error)
                await self._clock.sleep(_NOTE_SECONDS)

    async def _expire(self) -> None:
        for id in await self._ledger.expire_due():
            approval = await self._store.approvals.find(id)
            if approval is not None:
                await self._wake(approval.turn)


def _is_same_answer(approval: Approval, allowed: bool, scope: ApprovalScope) -> bool:
    """Return whether the question was already answered this way, e.g. by a request whose reply was lost."""
    if not allowed:
        return approval.state is ApprovalState.DENIED
    return approval.state in (ApprovalState.ALLOWED, ApprovalState.USED) and approval.scope == scope
