"""The guard's ports, loaded with the first judged call: few one-shot runs need it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from hob.agent.ports import Approvals
from hob.bus.accept import Questions
from hob.bus.waiting import unwrap_single_error
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import ApprovalId, SessionKey
from hob.core.lazy import Lazy
from hob.core.messages import Inbound
from hob.core.ports.accept import Accepted
from hob.core.ports.guard import Judge, Verdict
from hob.core.steps import ApprovalAnswered, ApprovalAsked
from hob.core.tools import ToolCall, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.trust.people import Person
from hob.core.turns import Turn, WaitsFor
from hob.core.values import dataclass
from hob.gateway.approvals import PendingApprovals
from hob.guard.settings import ApprovalSettings
from hob.store.store import Store

_ASKING = (WaitsFor.APPROVAL, WaitsFor.ANSWER)
_PREFIXES = ("approve", "deny", "allow", "/approve", "/deny", "/allow")


class ApprovalPorts(Approvals, Questions, PendingApprovals, Protocol):
    """Approvals for the turn, the bus and the API."""

    def reconfigure(self, settings: ApprovalSettings) -> None:
        """Apply a new expiry time to open questions."""

    async def run(self) -> None:
        """Wake turns whose questions expire, until cancelled."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The judge, and the approvals by people."""

    judge: Judge
    approving: ApprovalPorts


class LazyGuard:
    """Implements `Judge`, the agent's `Approvals` and the bus's `Questions`."""

    def __init__(self, store: Store, make: Callable[[], Guard]) -> None:
        """`make` loads the guard with the current settings."""
        self._store = store
        self._make = make
        self._guard = Lazy(make)
        self._asked, self._renewed = asyncio.Event(), asyncio.Event()

    def reconfigure(self, settings: ApprovalSettings) -> None:
        """Apply a new expiry time."""
        if self._guard.loaded is not None:
            self._guard.loaded.approving.reconfigure(settings)

    def renew(self) -> None:
        """Judge by the current settings, from the next call on."""
        if self._guard.loaded is not None:
            self._guard = Lazy(self._make)
            self._renewed.set()

    def approving(self) -> ApprovalPorts:
        """Return the approvals, for the API."""
        return self._guard().approving

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        return await self._guard().judge.judge(call, spec, turn, trust)

    async def ask(self, call: ToolCall, reason: str, turn: Turn) -> ApprovalId:
        id = await self.approving().ask(call, reason, turn)
        self._asked.set()
        return id

    async def render_question(self, approval: ApprovalId) -> str:
        return await self.approving().render_question(approval)

    async def find_answer(self, question: ApprovalAsked) -> ApprovalAnswered | None:
        return await self.approving().find_answer(question)

    async def answer(self, inbound: Inbound, session: SessionKey, event: TimelineEvent) -> Accepted | None:
        plain, parked = not inbound.text.lstrip().lower().startswith(_PREFIXES), self._store.turns.parked
        if plain and not await parked(_ASKING):  # no turn waits, as usual
            return None
        if inbound.session is None:
            session = await self._store.sessions.switched(inbound.origin.key()) or session
        if plain and not await parked(_ASKING, session):
            return None
        return await self.approving().answer(inbound, session, event)

    async def watch(self) -> None:
        """Watch the open questions until cancelled; see `ApprovalService.run`."""
        standing = await self._store.approvals.standing()
        if not standing and not await self._store.turns.parked(_ASKING):
            await self._asked.wait()
        while True:
            self._renewed.clear()
            with unwrap_single_error():
                async with asyncio.TaskGroup() as group:
                    running = group.create_task(self.approving().run())
                    await self._renewed.wait()
                    running.cancel()


@Lazy
def load_guard() -> Callable[..., Guard]:
    """Return the function that makes the guard. Importing it takes a tenth of a second."""
    from hob.app.trust.guard import build_guard

    return build_guard


def contacts_of(people: Iterable[Person]) -> Mapping[str, tuple[str, ...]]:
    """Return the addresses of linked people by name, leaving out names that two of them share."""
    named = [person for person in people if person.name]
    shared = Counter(person.name.casefold() for person in named)
    return {
        person.name: tuple(address.id for address in person.addresses)
        for person in named
        if shared[person.name.casefold()] == 1
    }
