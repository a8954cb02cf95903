"""The guard's ports, whose parts are loaded with the first call that is judged: most one-shot runs never get there."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import ApprovalId, SessionKey
from hob.core.lazy import Lazy
from hob.core.messages import Inbound
from hob.core.ports.accept import Accepted
from hob.core.ports.guard import Verdict
from hob.core.steps import ApprovalAnswered, ApprovalAsked
from hob.core.tools import ToolCall, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.trust.people import Person
from hob.core.turns import Turn, WaitsFor
from hob.guard.settings import ApprovalSettings
from hob.store.store import Store

if TYPE_CHECKING:  # the very thing that is to be loaded later
    from hob.app.trust.approvals import ApprovalService
    from hob.app.trust.guard import Guard

_PREFIXES = ("approve", "deny", "allow", "/approve", "/deny", "/allow")


class LazyGuard:
    """Implements `Judge`, the agent's `Approvals` and the bus's `Questions`."""

    def __init__(self, store: Store, make: Callable[[], "Guard"]) -> None:
        self._store = store
        self._make = make
        self._asked = asyncio.Event()
        self._settings: ApprovalSettings | None = None

    @cached_property
    def guarded(self) -> "Guard":
        """The guard itself."""
        made = self._make()
        if self._settings is not None:
            made.approving.become(self._settings)
        return made

    def become(self, settings: ApprovalSettings) -> None:
        """Questions stand for as long as these say; a guard that was not needed yet is made with them."""
        self._settings = settings
        if "guarded" in self.__dict__:
            self.guarded.approving.become(settings)

    def approving(self) -> "ApprovalService":
        """What the owner is asked."""
        return self.guarded.approving

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        return await self.guarded.judge.judge(call, spec, turn, trust)

    async def ask(self, call: ToolCall, reason: str, turn: Turn) -> ApprovalId:
        id = await self.guarded.approving.ask(call, reason, turn)
        self._asked.set()
        return id

    async def tell(self, approval: ApprovalId) -> str:
        return await self.guarded.approving.tell(approval)

    async def find_answer(self, asked: ApprovalAsked) -> ApprovalAnswered | None:
        return await self.guarded.approving.find_answer(asked)

    async def answer(self, inbound: Inbound, session: SessionKey, event: TimelineEvent) -> Accepted | None:
        if inbound.session is None:
            session = await self._store.sessions.switched(inbound.origin.key()) or session
        waiting = await self._store.turns.parked((WaitsFor.APPROVAL, WaitsFor.ANSWER), session)
        if not waiting and not inbound.text.lstrip().lower().startswith(_PREFIXES):
            return None
        return await self.guarded.approving.answer(inbound, session, event)

    async def watch(self) -> None:
        """Look after questions as long as it runs; see `Approving.run`."""
        standing = await self._store.approvals.standing()
        if not standing and not await self._store.turns.parked((WaitsFor.APPROVAL, WaitsFor.ANSWER)):
            await self._asked.wait()
        await self.guarded.approving.run()


@Lazy
def load_guard() -> "Callable[..., Guard]":
    """The function that makes the guard; importing it takes a tenth of a second, which is why it stands here."""
    from hob.app.trust.guard import guard

    return guard


def contacts_of(people: Iterable[Person]) -> Mapping[str, tuple[str, ...]]:
    """The addresses of those whom the owner linked, by name."""
    return {person.name: tuple(address.id for address in person.addresses) for person in people if person.name}
