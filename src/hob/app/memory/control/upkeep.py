"""Forgetting, trusting, pruning, exporting and importing memories."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

from hob.app.memory.control.selection import OwnerSelection
from hob.app.memory.parts import MemoryParts
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import TraceId
from hob.core.memory import SECTION, Layer, MemoryItem, Recalled
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass, Trust
from hob.gateway.memory import (
    MAX_QUOTES,
    DeletedAnswer,
    ForgetRequest,
    ForgottenAnswer,
    ImportedAnswer,
    MemoryQuery,
    TrustedAnswer,
)
from hob.guard.audit.entries import of_action
from hob.memory.views import export_view, loaded
from hob.store.erasure.copies import copies_with
from hob.store.erasure.quotes import Quotes
from hob.store.memory.tombstones import tombstone_of_section

_REASON = "its owner wanted it forgotten"
_ITEMS_AT_ONCE = 10_000
"""Maximum items that are forgotten in one step, and shown."""
_ITEMS_PER_TRANSACTION = 1_000
_ALL, _WORKING_NOTES = "all", "working_memory"
"""Every layer; KafClaw's name for the working notes, which `reset` clears like a layer."""
_MIN_ID_LENGTH = 6


class OwnerUpkeep:
    """Implements the gateway's `UpkeepControl`."""

    def __init__(self, parts: MemoryParts, selection: OwnerSelection) -> None:
        self._parts, self._kernel, self._store = parts, parts.kernel, parts.kernel.store
        self._selection, self._scope = selection, selection.scope

    async def forget(self, request: ForgetRequest) -> ForgottenAnswer:
        """Erase the matching items for good, with `said` also the conversation, or preview it.

        Raises InvalidRequest if nothing limits the request, NotFound.
        """
        if request.layer == _ALL:
            raise InvalidRequest(translatable("`hob memory reset all` empties memory; to forget, name one layer"))
        if not (request.id or request.source or request.origin or request.since or request.layer):
            raise InvalidRequest(translatable("say what to forget: an id, a source, an origin, a layer or a time"))
        wanted = MemoryQuery("", request.layer, request.source, request.origin, request.since, _ITEMS_AT_ONCE)
        if request.id:
            item = await self._parts.service.find(request.id, self._scope)
            if item is None:
                return await self._forget_said(request.id, preview=request.preview, said=request.said)
            found, count = [item], 1
        else:
            found, count = await self._matching(wanted), await self._selection.count(wanted)
        turns = await self._turns(found) if found else {}
        quotes = await self._quotes(found, count)
        ids = [item.id for item in found]
        view: ForgottenAnswer = {
            "items": [self._selection.view(Recalled(item, 0.0)) for item in found],
            "count": count,
            "turns": sorted(turns) if request.said else [],
            "backups": [str(file) for file in await asyncio.to_thread(copies_with, self._kernel.config.home, ids)],
            "erased": 0,
            "quoted": _count(quotes, turns.values() if request.said else ()),
        }
        if not request.preview:
            await self._parts.documents.stop_watching(request.source)
        if request.preview or not found:
            return view
        pieces = await self._erase(found, turns, quotes, request)
        for _ in range(len(found), count, _ITEMS_AT_ONCE):
            if further := await self._matching(wanted):
                pieces += await self._erase(further, await self._turns(further), None, request)
        self._parts.editor.on_withdrawal()
        return {**view, "erased": pieces, "quoted": _count(await self._quotes(found, count))}

    async def _erase(
        self, found: Sequence[MemoryItem], turns: Mapping[str, str], quotes: Quotes | None, request: ForgetRequest
    ) -> int:
        ids = [item.id for item in found]
        traces = set(turns.values()) | (quotes.traces if quotes and len(quotes.traces) <= MAX_QUOTES else set())
        versions = await self._store.facts.versions(self._scope, ids)
        pieces = await self._erase_traces(traces) if request.said else 0  # first, so that the request can be repeated
        if request.id and (sections := [tombstone_of_section(item) for item in found if item.kind == SECTION]):
            # the file still holds the text, and would bring it back with the next change of another section
            await self._store.erasure.add_tombstones(sections, _REASON)
        if request.id and quotes and len(quotes.traces) <= MAX_QUOTES:
            await self._store.items.note_forgotten(self._scope, ids[0], () if request.said else traces)
        return pieces + await self._store.erasure.erase_items([*ids, *versions], _REASON)

    async def _matching(self, wanted: MemoryQuery) -> list[MemoryItem]:
        return [each.item for each in await self._selection.select(wanted)]

    async def _forget_said(self, id: str, *, preview: bool, said: bool) -> ForgottenAnswer:
        """Erase the messages that still contain what was forgotten earlier. Raises NotFound."""
        findable = said and len(id) >= _MIN_ID_LENGTH
        known = await self._store.items.of(self._scope).forgotten(id) if findable else None
        if known is None:
            raise NotFound(translatable("nothing in memory has the id {id}", id=id))
        whole, traces = known
        pieces = 0
        if not preview:
            pieces = await self._erase_traces(traces)
            await self._store.items.note_forgotten(self._scope, whole, ())
            self._parts.editor.on_withdrawal()
        backups = [str(file) for file in await asyncio.to_thread(copies_with, self._kernel.config.home, [whole])]
        quoted = len(traces) if preview else 0
        return {"items": [], "count": 0, "turns": [], "backups": backups, "erased": pieces, "quoted": quoted}

    async def _erase_traces(self, traces: Iterable[str]) -> int:
        return sum([await self._store.erasure.erase_trace(TraceId(trace), _REASON) for trace in sorted(traces)])

    async def trust(self, source: str, *, undo: bool = False) -> TrustedAnswer:
        """Set whether a source's current items count as the owner's own words. Raises InvalidRequest."""
        if not source.startswith((f"{Layer.DOCUMENT}:", f"{Layer.CONVERSATION}:")):
            raise InvalidRequest(
                translatable("{source} is neither document:PATH nor conversation:ASSISTANT", source=source)
                if source.strip()
                else translatable(
                    "name a source: document:PATH or conversation:ASSISTANT; `hob memory search` shows them"
                )
            )
        trust = Trust.UNTRUSTED if undo else Trust.TRUSTED
        changed = await self._store.items.trust(self._scope, source, trust)
        if changed:
            entry = of_action("memory_trust", trust.value, SenderClass.OWNER, target=source)
            await self._store.audit.add(entry)
        if undo:
            self._parts.editor.on_withdrawal()
        return {"changed": changed}

    async def prune(self) -> DeletedAnswer:
        """Delete expired and surplus items."""
        return {"status": "ok", "deleted": await self._parts.service.prune(self._store.memory_lifecycle)}

    async def reset(self, layer: str) -> DeletedAnswer:
        """Empty a layer, the working notes (`working_memory`), or `all`. Raises InvalidRequest."""
        layers: Sequence[str] = ()
        if layer == _ALL:
            layers = tuple((await self._selection.count_layers())[1])
        elif layer != _WORKING_NOTES:
            layers = (await self._selection.check_layer(layer, _WORKING_NOTES, _ALL),)
        own = await self._store.items.of(self._scope).trusted_documents()
        gone = await self._store.memory_lifecycle.reset(self._scope, layers) if layers else 0
        if layer in (_ALL, _WORKING_NOTES):
            gone += await self._store.working_notes.clear()
        self._parts.editor.on_withdrawal()
        if {Layer.SOUL, Layer.DOCUMENT}.intersection(layers):
            await self._parts.reread_files()
            for source in own:
                await self._store.items.trust(self._scope, source, Trust.TRUSTED)
        return {"status": "ok", "deleted": gone}

    async def export(self) -> AsyncIterator[str]:
        """Yield every item with its fact or goal as a line of JSON, oldest first, in a stable order."""
        for each in await self._store.memory_carrier.carried(self._scope):
            yield json.dumps(export_view(each), ensure_ascii=False) + "\n"

    async def import_items(self, lines: Iterable[str]) -> AsyncIterator[ImportedAnswer]:
        """Import exported items, each once; yield the progress. Only the owner's own words are trusted.

        Raises InvalidRequest for an invalid line, before anything is stored.
        """
        now = self._kernel.clock.now().timestamp()
        carried = [loaded(line, number, now) for number, line in enumerate(lines, 1) if line.strip()]
        new = 0
        for start in range(0, len(carried) or 1, _ITEMS_PER_TRANSACTION):
            some = carried[start : start + _ITEMS_PER_TRANSACTION]
            new += await self._store.memory_carrier.import_items(some)
            if start + len(some) == len(carried):
                await self._parts.service.count(self._store.memory_lifecycle)
                self._parts.editor.on_withdrawal()
                self._parts.notify()
            yield {"items": start + len(some), "new": new, "of": len(carried)}

    async def _quotes(self, items: Sequence[MemoryItem], count: int) -> Quotes | None:
        """Return the messages that repeat one of these items; None if there are too many items to search for."""
        texts = [item.text for item in items]
        return await self._store.erasure.quotes(texts) if count <= MAX_QUOTES else None

    async def _turns(self, items: Sequence[MemoryItem]) -> dict[str, str]:
        return dict(await self._store.items.of(self._scope).turns([item.id for item in items]))


def _count(quotes: Quotes | None, but: Collection[str] = ()) -> int | None:
    return None if quotes is None else len(quotes.traces.difference(but)) + quotes.imported
