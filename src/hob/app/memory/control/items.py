"""Listing, adding and explaining memories."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from hob.app.memory.control.embedding import OwnerEmbedding
from hob.app.memory.control.selection import OwnerSelection
from hob.app.memory.parts import MemoryParts
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey, TurnId
from hob.core.memory import OWNER, MemoryItemAnswer, Recalled
from hob.core.steps import ModelAsked, RecalledMemory
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL
from hob.gateway.memory import FilesAnswer, ForgottenItemAnswer, MemoryItemsAnswer, MemoryQuery, RecalledAnswer

_MAX_TURNS = 20
"""Newest turns that are searched for one that was shown memories."""


class OwnerItems:
    """Implements the gateway's `ItemControl`."""

    def __init__(self, parts: MemoryParts, selection: OwnerSelection, embedding: OwnerEmbedding) -> None:
        self._parts, self._store = parts, parts.kernel.store
        self._selection = selection
        self._embedding = embedding

    async def items(self, criteria: MemoryQuery) -> MemoryItemsAnswer:
        """Return the matching items: with a query the best first, otherwise the newest.

        `problem` says why search by meaning failed, `unassisted` why a model did not help.
        """
        if criteria.layer == "all":
            criteria = replace(criteria, layer="")
        found = [self._selection.view(each) for each in await self._selection.select(criteria, standing=True)]
        problem = self._embedding.problem if criteria.query else ""
        assistance = self._parts.assistance
        unassisted = assistance.problem if criteria.query and assistance else ""
        return {"items": found, "problem": problem, "unassisted": unassisted}

    async def recalled(self, turn: str = "", session: str = "") -> RecalledAnswer:
        """Return what this turn, or the newest one with any, was shown. Raises NotFound."""
        turns = (TurnId(turn),) if turn else await self._store.turns.latest(SessionKey(session) or None, _MAX_TURNS)
        for each in turns:
            steps = await self._store.journal.load_steps(each)
            shown = [memory for step in steps if isinstance(step, ModelAsked) for memory in step.recalled]
            if shown:
                return {"turn": each, "items": [await self._shown(memory) for memory in shown]}
        if turn and await self._store.turns.find(turn) is None:
            raise NotFound(translatable("There is no turn {turn}.", turn=turn))
        return {"turn": turn, "items": []}

    async def _shown(self, memory: RecalledMemory) -> MemoryItemAnswer | ForgottenItemAnswer:
        parts = dict(memory.parts)
        item = await self._parts.service.find(memory.id, self._selection.scope)
        if item is None:
            return {"id": memory.id, "score": memory.score, "parts": parts, "forgotten": True}
        return self._selection.view(Recalled(item, memory.score, parts))

    async def item(self, id: str) -> MemoryItemAnswer:
        """Return one item with every field. Raises NotFound."""
        return self._selection.view(Recalled(await self._selection.get(id), 0.0), whole=True)

    async def add(self, text: str, session: str = "") -> MemoryItemAnswer:
        """Remember a text of the owner, said in this conversation. Raises InvalidRequest."""
        if not text.strip():
            raise InvalidRequest(translatable("the text is empty"))
        source = f"{session}, " if session else ""
        id = await self._store.memories.remember(text.strip(), SessionKey(OWNER), OWNER_LABEL, source)
        self._parts.notify()
        return self._selection.view(Recalled(await self._selection.get(id), 0.0))

    async def add_files(self, path: str) -> AsyncIterator[FilesAnswer]:
        """Index a file or a folder by sections and watch it; yield the progress after each file.

        Raises NotFound, InvalidRequest.
        """
        async for each in self._parts.documents.add(Path(path)):
            if each.seen == each.of:
                await self._parts.service.count(self._store.memory_lifecycle)
                self._parts.notify()
            yield {
                "files": each.files, "new": each.new, "seen": each.seen, "of": each.of, "problems": [*each.problems],
                "unread": each.unread, "kinds": [*each.kinds],
            }  # fmt: skip
