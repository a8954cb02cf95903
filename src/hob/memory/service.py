"""The interface of memory: search, recall on request, and automatic recall for a turn."""

import logging
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from hob.core.clock import Clock, utc_day
from hob.core.errors import ModelError, StoreError
from hob.core.ids import SessionKey
from hob.core.memory import OWNER, Fact, Layer, Memory, MemoryItem, Recalled, Scope, is_private
from hob.core.translation.fact_words import ARTICLE, render_fact_for_owner
from hob.core.translation.language import join_texts, verbatim
from hob.core.translation.remarks import Remark
from hob.core.translation.sentences import Sentence
from hob.core.turns import Turn, memory_scope
from hob.memory.overflow import Overflow
from hob.memory.retrieval.query import is_task
from hob.memory.settings import MemorySettings
from hob.store.memory.facts import StoredFacts
from hob.store.memory.goals import KIND as GOAL
from hob.store.memory.items import StoredItems
from hob.store.memory.lifecycle import MemoryLifecycle

log = logging.getLogger(__name__)

SEARCHED = tuple(layer for layer in Layer if layer is not Layer.SOUL)
"""Layers that are recalled. Identity files are in the prompt anyway."""
_MIN_SHARE, _MIN_BEST, _MIN_BEST_OF_TASK = 0.2, 0.25, 0.6
"""Minimum shares of a message: of an item that is recalled automatically, and of the best item, also for tasks. If the
best item has less, memory counts as knowing nothing about the message.
"""
_ADJACENT_POSITIONS = 3
"""Distance within which two items of a conversation or document count as adjacent."""
_MAX_QUESTION_CHARACTERS = 200
"""Maximum characters shown of a question."""
_MAX_NEWS = 5
_NAMED_BY_HOB = (f"{Layer.TOOL}:", f"{Layer.CONVERSATION}:")
_ID = re.compile(r"[0-9a-f]{6,32}")


class ItemSearcher(Protocol):
    """Searches items."""

    async def search(
        self,
        query: str,
        *,
        scope: Scope,
        layers: Collection[str] = (),
        now: float,
        limit: int = 8,
        budget: int = 0,
        meaning: bool = True,
        as_of: float = math.inf,
    ) -> Sequence[Recalled]:
        """Return the items of this scope that help with the query, best first, as of the time `as_of`. Raises
        StoreErrors, ModelError.
        """

    async def prepare(self, scope: Scope) -> None:
        """Load the vector index of this scope. Raises StoreErrors."""


class MemoryService:
    """Implements `Recall`, the tools' `MemorySearch` and the prompt's `TurnMemory`."""

    def __init__(
        self,
        items: StoredItems,
        facts: StoredFacts,
        retriever: ItemSearcher,
        settings: MemorySettings,
        clock: Clock,
        allows: Callable[[str, Turn], bool] = lambda _, turn: True,
        plugin_layers: Collection[str] = (),
        thorough: ItemSearcher | None = None,
    ) -> None:
        """`allows` returns whether a turn may use memory now, with a given model.

        `plugin_layers` are layers of plug-ins. `thorough` is the slower retriever for explicit searches.
        """
        self._thorough = thorough or retriever
        self._searched = (*SEARCHED, *plugin_layers)
        self._items = items
        self._facts = facts
        self._retriever = retriever
        self.settings = settings
        """The current settings."""
        self._clock = clock
        self._allows = allows
        self._has_news = True
        self.problem = ""
        """Why the last search compared words only, although there is an embedder."""
        self.permanent = 0
        """Number of items that never expire, at the last count."""
        self.overflow = Overflow()

    async def prune(self, lifecycle: MemoryLifecycle, now: float | None = None) -> int:
        """Delete items expired at `now` (None: at present) and surplus ones, recount, and return how many were deleted.
        Raises StoreErrors.
        """
        gone = await lifecycle.prune(self.settings.max_items, now)
        await self.count(lifecycle)
        return gone

    async def count(self, lifecycle: MemoryLifecycle) -> None:
        """Count the items that never expire. Raises StoreErrors."""
        self.permanent = await lifecycle.permanent()

    @property
    def surplus(self) -> Mapping[str, int]:
        """`permanent` if it exceeds the limit for expiring items; otherwise empty."""
        return {"permanent": self.permanent} if self.permanent > self.settings.max_items else {}

    async def prepare(self) -> None:
        """Load the vector index of the owner's memory. Raises StoreErrors."""
        await self._retriever.prepare(Scope(OWNER))

    async def search(
        self,
        query: str,
        scope: Scope,
        limit: int,
        layers: Collection[str] = (),
        budget: int = 0,
        *,
        asked: bool = True,
        as_of: float = math.inf,
    ) -> Sequence[Recalled]:
        """Return what helps with the query, best first. `asked` marks an explicit search; `as_of` searches memory as it
        was at that time (Unix seconds). Raises StoreErrors.

        If the embedder fails, words alone count, and `problem` says why.
        """
        now = min(as_of, self._clock.now().timestamp())
        retriever = self._thorough if asked else self._retriever
        search = partial(retriever.search, query, scope=scope, layers=layers, now=now, limit=limit, budget=budget)
        try:
            found = await search(as_of=as_of)
        except ModelError as error:
            self.problem = str(error) or error.fault.value
            return await search(meaning=False, as_of=as_of)
        self.problem = ""
        return found

    async def find(self, id: str, scope: Scope) -> MemoryItem | None:
        """Return the item whose id has this prefix; None if there is none or more than one. Raises StoreErrors."""
        if not _ID.fullmatch(id):
            return None
        found = await self._items.of(scope).select("i.id >= ? AND i.id < ?", (id, f"{id}g"), limit=2)
        return found[0] if len(found) == 1 else None

    async def around(self, id: str, scope: Scope) -> Sequence[MemoryItem]:
        """Return the item whose id has this prefix, and the equally trusted messages around it. Raises StoreErrors."""
        item = await self.find(id, scope)
        if item is None or item.kind != "turn":
            return [] if item is None else [item]
        where = "i.session = ? AND i.source = ? AND i.position BETWEEN ? AND ? AND i.kind = 'turn'"
        first, last = item.position - _ADJACENT_POSITIONS, item.position + _ADJACENT_POSITIONS
        found = await self._items.of(scope).select(where, (item.session, item.source, first, last))
        said = [each for each in found if each.label.trusted or each.label == item.label]
        return sorted(said, key=lambda each: (each.position, each.seq))

    async def sections(self, name: str, scope: Scope) -> Sequence[MemoryItem]:
        """Return the sections of a document, in order. Raises StoreErrors."""
        sources = (f"{Layer.DOCUMENT}:{name}", f"{Layer.SOUL}:{name}")
        found = await self._items.of(scope).select("i.source IN (?, ?)", sources)
        return sorted(found, key=lambda item: (item.position, item.seq))

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """Return memories for the tool `recall`. Never raises."""
        return await self._recall(query, Scope(session), limit)

    def permitted(self, turn: Turn, model: str) -> bool:
        """Return whether the policy lets the turn use memory, with this model."""
        return self._allows(model, turn)

    def allowed(self, turn: Turn, model: str) -> bool:
        """Return whether the turn gets automatic recall: only the owner's turns, with a model that may see memory."""
        return self.settings.recall and memory_scope(turn).person == OWNER and self.permitted(turn, model)

    def remembered(self, scope: Scope, facts: Sequence[Fact]) -> None:
        """Note that facts were learned, so that the next answer reports them."""
        self._has_news = self._has_news or (scope == Scope(OWNER) and bool(facts))

    async def news(self, turn: Turn) -> Sequence[Remark]:
        """Return what was learned since the owner was last told, also across restarts. Never raises."""
        if not self._has_news or memory_scope(turn) != Scope(OWNER) or is_private(turn.session):
            return ()
        self._has_news = False
        try:
            told = (await self._facts.news(Scope(OWNER), turn.id))[-_MAX_NEWS:]
        except StoreError as error:
            self._has_news = True
            log.warning("memory cannot be read: %s", error)
            return ()
        if not told:
            return ()
        lines = [render_fact_for_owner(fact.subject, fact.predicate, fact.object) for fact in told]
        if len(told) > 1:
            lines = [
                join_texts(" ", (text, verbatim(f"({fact.id[:12]})"))) for text, fact in zip(lines, told, strict=True)
            ]
        changes = {fact.change or fact.id: fact.id[:12] for fact in told}
        ids = " ".join(reversed(changes.values()))  # the newest first, since it may have replaced an older one
        return (Remark(Sentence.REMEMBERED, (("facts", join_texts("; ", lines)), ("id", ids))),)

    async def recall_for(self, turn: Turn, query: str, limit: int, shown_from: int) -> tuple[Memory, ...]:
        """Return what helps with a turn's message, except what its own conversation shows from `shown_from` on."""

        self.overflow.turns += 1

        def shown(item: MemoryItem) -> bool:
            return item.session == turn.session and item.position >= shown_from

        found = await self._recall(query, memory_scope(turn), limit, shown)
        cited = self.cites(turn)
        return tuple(each if _may_cite(each, cited) else replace(each, source="") for each in found)

    def cites(self, turn: Turn) -> bool:
        """Return whether trusted memories name where they come from; by default not in groups."""
        group = any(inbound.group for inbound in (*turn.inbounds, *turn.joined))
        return self.settings.citations == "on" or (self.settings.citations == "auto" and not group)

    def overflowed(self) -> None:
        """Record that recalled memories did not all fit the prompt."""
        self.overflow.add("rag")

    async def _recall(
        self,
        query: str,
        scope: Scope,
        limit: int,
        shown: Callable[[MemoryItem], bool] | None = None,
    ) -> tuple[Memory, ...]:
        try:
            found = await self.search(query, scope, limit * 3, self._searched, asked=shown is None)
            if shown is not None:
                found = _keep_helpful(query, [each for each in found if not shown(each.item)])
            kept = _group_adjacent(found[:limit])
            outdated = {item.id for each in kept for item in (each.item, each.asked) if item and _is_outdated(item)}
            ended = await self._facts.ended(scope, outdated) if outdated else {}
        except StoreError as error:
            log.warning("memory cannot be read: %s", error)
            return ()
        return tuple(
            Memory(
                _describe_with_question(each, ended),
                citation(each.item),
                each.item.label,
                each.item.at,
                each.score,
                each.item.id[:12],
                tuple(each.parts.items()),
            )
            for each in kept
        )


def _may_cite(memory: Memory, cited: bool) -> bool:
    """Return whether a prompt may name the source, although the memory itself may not be shown: others choose the names
    of files and recordings, and could write a claim into them.
    """
    return cited if memory.label.trusted else memory.source.startswith(_NAMED_BY_HOB)


def _keep_helpful(query: str, found: Sequence[Recalled]) -> Sequence[Recalled]:
    """Keep the items that contain enough of a message; none if even the best one contains only common words."""
    minimum = _MIN_BEST_OF_TASK if is_task(query) else _MIN_BEST
    if max((each.share for each in found), default=0.0) < minimum:
        return ()
    return [each for each in found if each.share >= _MIN_SHARE]


def _group_adjacent(found: Sequence[Recalled]) -> list[Recalled]:
    """Order by score, but keep adjacent messages together in their own order."""
    groups: list[list[Recalled]] = []
    for each in found:
        near = (group for group in groups if any(_are_near(each.item, other.item) for other in group))
        if group := next(near, None):
            group.append(each)
        else:
            groups.append([each])
    return [each for group in groups for each in sorted(group, key=lambda one: (one.item.position, one.item.seq))]


def _are_near(one: MemoryItem, other: MemoryItem) -> bool:
    said = one.layer in (Layer.CONVERSATION, Layer.DOCUMENT) and one.label.trusted == other.label.trusted
    together = one.session == other.session and one.source == other.source
    return said and together and abs(one.position - other.position) <= _ADJACENT_POSITIONS


def _is_outdated(item: MemoryItem) -> bool:
    """Return whether a fact in this message no longer holds."""
    return item.layer is Layer.CONVERSATION and item.valid_to is not None


def describe(item: MemoryItem, ended: Mapping[str, Sequence[str]]) -> str:
    """Return the text, with its speaker if that is not obvious, and the facts in it that have `ended`."""
    text = f"{item.speaker}: {item.text}" if item.kind == "turn" and item.speaker else item.text
    if item.layer is Layer.FACT and text.startswith((f"{OWNER} ", f"{OWNER}'s ")):
        text = ARTICLE + text
    if item.kind == GOAL:
        return f"goal: {text}" if item.valid_to is None else f"goal, closed {utc_day(item.valid_to)}: {text}"
    if item.valid_to is None or item.layer is Layer.FACT:
        return text
    if facts := ended.get(item.id):
        return f"{text} (since {utc_day(item.valid_to)} no longer so: {'; '.join(facts)})"
    partly = "partly " if _is_outdated(item) else ""
    return f"{text} ({partly}no longer so since {utc_day(item.valid_to)})"


def _describe_with_question(found: Recalled, ended: Mapping[str, Sequence[str]]) -> str:
    text = describe(found.item, ended)
    if found.asked is None:
        return text
    question = describe(found.asked, ended)
    if len(question) > _MAX_QUESTION_CHARACTERS:
        question = f"…{question[-_MAX_QUESTION_CHARACTERS:]}"
    return f"{question} / {text}"


def citation(item: MemoryItem) -> str:
    """Return where the item comes from: lines of a file, or a turn."""
    if item.layer in (Layer.DOCUMENT, Layer.SOUL) and item.evidence:
        return f"Source: {item.evidence[0]}"
    place = item.session or item.source if item.layer is Layer.FACT else item.source
    return ", ".join(part for part in (place, item.turn) if part)
