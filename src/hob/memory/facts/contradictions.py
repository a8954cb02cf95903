"""Detection of contradicting facts: the newer fact counts, the older one is closed.

Each statement is checked when it is recorded. Contradictions that remain (from merged memories, or because a later
release made a predicate single-valued) are found here while Hob is idle, without a model.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby

from hob.core.ids import new_event_id
from hob.core.memory import OWNER, Fact, FactChange, FactState, Scope
from hob.memory.background_model import BackgroundModel
from hob.memory.facts.decisions import is_single
from hob.store.memory.facts import StoredFacts

_LIKES = frozenset({"likes", "loves", "enjoys", "prefers"})
_DISLIKES = frozenset({"dislikes", "hates", "avoids", "does_not_like", "cannot_stand"})
_SCOPE = Scope(OWNER)


class Reconciler:
    """Closes contradicted facts."""

    def __init__(self, facts: StoredFacts) -> None:
        self._facts = facts

    async def step(self, _: BackgroundModel) -> None:
        """Check all known facts. Writes only if something is contradicted. Raises StoreErrors."""
        if reconciled(await self._facts.known(_SCOPE)) is not None:
            await self._facts.change(_SCOPE, [reconciled], new_event_id())


def reconciled(known: Sequence[Fact]) -> FactChange | None:
    """Return what has to be closed among these facts; None if there is nothing.

    The owner's corrections give way to later statements like any other fact. Unconfirmed facts do not close others.
    """
    standing = [fact for fact in known if fact.valid_to is None and fact.state is not FactState.ASKED]
    ended = [each for rivals in _rivals(standing) for each in _ended(rivals)]
    return FactChange(tuple(fact.id for fact in ended), tuple(ended)) if ended else None


def _ended(rivals: Sequence[Fact]) -> Iterator[Fact]:
    newest = max(rivals, key=lambda fact: (fact.at, fact.state is FactState.CORRECTED, fact.recorded_from, fact.id))
    since = newest.at if newest.valid_from is None else newest.valid_from
    for fact in rivals:
        if fact is not newest:
            yield replace(fact, valid_to=max(since, fact.valid_from or since), evidence=(*fact.evidence, newest.id))


def contradicted(facts: Sequence[Fact]) -> Mapping[str, Sequence[str]]:
    """Map each fact to the ids of the facts that contradict it at the same time. Unconfirmed facts count too."""
    against: defaultdict[str, list[str]] = defaultdict(list)
    for _, some in _groups(facts):
        for one, other in combinations(some, 2):
            if _exclude(one, other):
                against[one.id].append(other.id)
                against[other.id].append(one.id)
    return against


def _exclude(one: Fact, other: Fact) -> bool:
    if one.predicate in _LIKES | _DISLIKES:
        apart = (one.predicate in _LIKES) != (other.predicate in _LIKES)
    else:
        apart = is_single(one.predicate) and one.key != other.key
    recorded = _before(one.recorded_from, other.recorded_to) and _before(other.recorded_from, one.recorded_to)
    return apart and recorded and _before(_since(one), other.valid_to) and _before(_since(other), one.valid_to)


def _since(fact: Fact) -> float:
    """Return the time from which on the fact certainly holds."""
    return fact.at if fact.valid_from is None else fact.valid_from


def _before(since: float, until: float | None) -> bool:
    return until is None or since < until


def _about(fact: Fact) -> tuple[str, str]:
    name = "liking" if fact.predicate in _LIKES | _DISLIKES else fact.predicate
    return fact.subject.casefold(), f"{name} {fact.key[2]}" if name == "liking" else name


def _groups(facts: Sequence[Fact]) -> Iterator[tuple[str, Sequence[Fact]]]:
    """Group facts about the same subject, each with the group's name."""
    for (_, name), group in groupby(sorted(facts, key=lambda fact: (_about(fact), fact.id)), _about):
        yield name, list(group)


def _rivals(standing: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    """Yield groups of two or more facts that cannot hold together."""
    for name, some in _groups(standing):
        if name.startswith("liking "):
            if {each.predicate in _LIKES for each in some} == {True, False}:
                yield _one_side(some)
        elif is_single(name) and len(some) > 1:
            yield some


def _one_side(some: Sequence[Fact]) -> Sequence[Fact]:
    """Return the newest fact and the facts of opposite meaning."""
    newest = max(some, key=lambda fact: (fact.at, fact.state is FactState.CORRECTED, fact.id))
    likes = newest.predicate in _LIKES
    return [newest, *(each for each in some if (each.predicate in _LIKES) != likes)]
