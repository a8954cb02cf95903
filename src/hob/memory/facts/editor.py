"""Reading and correcting facts, for the owner and for tools on their behalf."""

from collections.abc import Callable, Sequence
from functools import partial

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import new_event_id
from hob.core.memory import Fact, FactAction, FactState, Scope
from hob.core.translation.language import translatable
from hob.core.trust.pasted import split_pasted
from hob.memory.facts.decisions import is_valid_at, settled
from hob.store.memory.analysis import words_of
from hob.store.memory.facts import StoredFacts


class FactEditor:
    """Implements `KnownFacts`."""

    def __init__(self, facts: StoredFacts, clock: Clock, on_withdrawal: Callable[[], None] = lambda: None) -> None:
        """`on_withdrawal` is called when a fact no longer holds."""
        self._facts = facts
        self._clock = clock
        self.on_withdrawal = on_withdrawal

    async def known(self, scope: Scope) -> Sequence[Fact]:
        """Return the facts that hold now, including unconfirmed ones. Raises StoreErrors."""
        now = self._clock.now().timestamp()
        return [fact for fact in await self._facts.known(scope) if is_valid_at(fact, now)]

    async def correct(self, id: str, right: str, said: str, scope: Scope) -> tuple[Fact, Sequence[Fact]]:
        """Correct a fact as the owner said; return the facts before and after. Raises NotFound, InvalidRequest,
        StoreErrors.
        """
        own = " ".join(text for text, pasted in split_pasted(said) if not pasted)
        if missing := {*words_of(right)} - {*words_of(own)}:
            raise InvalidRequest(
                translatable("the owner did not say {words}; ask them", words=", ".join(sorted(missing)))
            )
        return await self.settle(id, FactAction.CORRECT, right, scope)

    async def settle(self, id: str, action: FactAction, right: str, scope: Scope) -> tuple[Fact, Sequence[Fact]]:
        """Change the fact whose item's id has this prefix; return the old fact, and what is recorded instead.

        Undoing a withdrawal restores the fact. Raises InvalidRequest, NotFound, StoreErrors.
        """
        if not id:
            raise InvalidRequest(translatable("id is empty: give the beginning of the fact's id"))
        undo, change = action is FactAction.UNDO, new_event_id()
        versions = [] if len(id) < _SHORTEST else await self._facts.beginning(scope, id)
        known = [fact for fact in versions if fact.recorded_to is None]
        if len(known or versions) != 1 or not (known or undo):
            raise NotFound(translatable("there is no current fact {id}; `hob memory facts` lists them", id=id))
        (fact,) = known or versions
        if undo:
            await self._facts.undo(scope, fact.change if known else fact.closed, change)
        else:
            correction = partial(settled, fact, " ".join(right.split()), self._clock.now().timestamp())
            await self._facts.change(scope, [lambda _: correction(confirmed=action is FactAction.CONFIRM)], change)
        self.on_withdrawal()
        return fact, await self._facts.changed(scope, change)


def sure(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that count, which are the confirmed ones."""
    return [fact for fact in facts if fact.state is not FactState.ASKED]


_SHORTEST = 6
