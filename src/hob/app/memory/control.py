"""`hob memory` and the API of memory: list, add, correct, forget, export and import."""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hob.app.kernel import Kernel
from hob.app.memory.documents import DocumentIndexer
from hob.core.errors import InvalidRequest, ModelError, NotFound
from hob.core.ids import SessionKey, TraceId, TurnId
from hob.core.memory import (
    OWNER,
    FactAction,
    Goal,
    GoalAnswer,
    GoalNote,
    GoalState,
    Layer,
    MemoryItem,
    MemoryItemAnswer,
    MemoryLayer,
    Recalled,
    Scope,
)
from hob.core.steps import ModelAsked, RecalledMemory
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL, SenderClass, Trust
from hob.gateway.memory import (
    MAX_QUOTES,
    DeletedAnswer,
    EmbeddingStatusAnswer,
    FactsAnswer,
    FactsQuery,
    FilesAnswer,
    ForgetRequest,
    ForgottenAnswer,
    ForgottenItemAnswer,
    GoalsAnswer,
    ImportedAnswer,
    InstalledAnswer,
    MemoryCounts,
    MemoryItemsAnswer,
    MemoryQuery,
    MemoryStatusAnswer,
    MemoryTotals,
    OverflowFigures,
    RecalledAnswer,
    ReindexedAnswer,
    SetGoalRequest,
    SettledFactAnswer,
    TrustedAnswer,
)
from hob.guard.audit.entries import of_action
from hob.memory.background_model import FACTS, OBSERVER, BackgroundBudget
from hob.memory.embedding import MemoryEmbedder
from hob.memory.expertise import ExpertiseKeeper
from hob.memory.facts.contradictions import contradicted
from hob.memory.facts.decisions import is_valid_at
from hob.memory.facts.editor import FactEditor
from hob.memory.facts.extraction import GOALS, FactDecision
from hob.memory.retrieval.assistance import Assistance
from hob.memory.service import MemoryService
from hob.memory.views import carried_view, fact_view, goal_view, item_view, layers_of, led, loaded
from hob.store.erasure.copies import copies_with
from hob.store.erasure.quotes import Quotes
from hob.store.memory.goals import fact_of
from hob.store.memory.items import STOOD
from hob.store.memory.lifecycle import LayerCount
from hob.store.memory.work import OWNERS_WORDS

_log = logging.getLogger(__name__)
_REASON = "its owner wanted it forgotten"
_MAX = 10_000
_AT_ONCE = 1_000
"""So many items that are carried in are kept in one transaction."""
_TURNS = 20
"""Among so many turns the newest is looked for that was shown memories."""
_NOTES = "working_memory"
"""As the seed calls the working notes, where they are emptied like a layer."""
_WORKS = {"facts": FACTS, "observations": OBSERVER}
"""What the work is called that an item waits for."""
_SHORTEST_ID = 6
_END = 2**62
"""No item is behind it."""
_PREVIEW, _MAX_OBSERVATIONS = 500, 20


class OwnerEmbedding:
    """Implements the gateway's `EmbeddingControl`, also where no embedder is chosen."""

    def __init__(self, embedder: MemoryEmbedder | None) -> None:
        self._embedder = embedder

    @property
    def problem(self) -> str:
        """Why nothing is found by meaning now; empty where it is, or where no embedder is chosen."""
        return self._embedder.problem if self._embedder else ""

    def notify(self) -> None:
        """There may be items without a vector."""
        if self._embedder is not None:
            self._embedder.notify()

    async def place(self) -> int | None:
        """The item up to which all have their vector; None where no embedder is chosen."""
        return await self._embedder.place() if self._embedder else None

    async def counts(self) -> Mapping[str, Any]:
        """The model, how many items have their vector and how many wait for it."""
        if self._embedder is None:
            return {"model": "", "embedded": 0, "waiting": 0, "problem": ""}
        embedded, waiting = await self._embedder.counts()
        return {
            "model": self._embedder.name,
            "embedded": embedded,
            "waiting": waiting,
            "problem": self._embedder.problem,
        }

    async def status(self) -> EmbeddingStatusAnswer:
        known, counts, status = self._embedder, await self.counts(), "disabled"
        problem: str = translatable("model.embedding names no model: memory is found by words")
        if known is not None:
            problem = known.problem
            status = "error" if problem else "indexing" if counts["waiting"] else "ready"
        return {
            "status": status,
            "embedding": {
                "enabled": known is not None,
                "provider": known.provider if known else "",
                "model": known.model if known else "",
                "dimension": known.dimension if known else 0,
                "normalize": True,
                "fingerprint": known.fingerprint if known else "",
            },
            "runtime": {
                "ready": known is not None and bool(known.checked) and not problem,
                "status": status,
                "detail": problem,
                "checkedAt": known.checked or None if known else None,
            },
            "index": {"embeddedChunks": counts["embedded"], "waitingChunks": counts["waiting"]},
        }

    async def check(self) -> EmbeddingStatusAnswer:
        if self._embedder is not None and not self._embedder.checked:
            with suppress(ModelError):
                await self._embedder.embed_question("?")
        return await self.status()

    async def install(self, model: str) -> InstalledAnswer:
        known = self._embedder
        if known is None or model not in ("", known.name, known.model):
            told = translatable(
                "{model} is not model.embedding; `hob config set model.embedding NAME` chooses one, "
                "from the next start on",
                model=model or "-",
            )
            raise InvalidRequest(told)
        with suppress(ModelError):
            await known.embed_question("?")
        now = await self.status()
        status = "ready" if now["runtime"]["ready"] else "error"
        return {"status": status, "action": "asked", "model": known.name, "detail": known.problem}

    async def reindex(self, reason: str) -> ReindexedAnswer:
        if self._embedder is None:
            raise InvalidRequest(translatable("model.embedding names no model: there are no vectors to make anew"))
        _log.info("the vectors of all memories are made anew: %s", reason or "its owner wanted it")
        return {"status": "ok", "wipedChunks": await self._embedder.reindex(), "reason": reason}


class OwnerMemory:
    """Implements the gateway's `MemoryControl` for the owner's memory."""

    def __init__(
        self,
        kernel: Kernel,
        service: MemoryService,
        documents: DocumentIndexer,
        budget: BackgroundBudget,
        reread_files: Callable[[], None],
        fact_editor: FactEditor,
        expertise: ExpertiseKeeper,
        embedding: OwnerEmbedding,
        er1: Callable[[], Mapping[str, Any]] | None = None,
        assistance: Assistance | None = None,
    ) -> None:
        """`reread_files` has the owner's files read anew."""
        self._plugin_layers = kernel.layers
        self._assistance = assistance
        self._embedding = embedding
        self._store = kernel.store
        self._budget = budget
        self._reread_files = reread_files
        self._fact_editor = fact_editor
        self._expertise = expertise
        self._service = service
        self._clock = kernel.clock
        self._home = kernel.config.home
        self._er1 = er1
        self._scope = Scope(OWNER)
        self._documents = documents

    async def status(self) -> MemoryStatusAnswer:
        """The layers and totals, with KafClaw's fields and colours."""
        store, work, scope = self._store, self._store.memory_work, self._scope
        first, then = await asyncio.gather(  # what is asked together is answered together
            asyncio.gather(
                self._counted(), self._embedding.counts(), self._budget.view(), work.waiting((FACTS, OBSERVER)),
                self._decisions(), self._documents.watched(),
            ),
            asyncio.gather(
                store.facts.count(scope), store.goals.count(scope), self._expertise.count(),
                store.working_notes.newest(), work.observations(scope),
            ),
        )  # fmt: skip
        (counts, layers), embedding, budget, (unread, unseen), decisions, watched = first
        facts, goals, skills, notes, known = then
        totals = self._totals(counts)
        return {
            "layers": [
                {
                    "name": name,
                    "source_prefix": f"{name}:",
                    "description": layer.description,
                    "ttl_days": layer.days,
                    "chunk_count": counts[name].items if name in counts else 0,
                    "color": layer.colour,
                }
                for name, layer in layers.items()
            ],
            "totals": totals,
            "queue": {"vectors": embedding["waiting"], "facts": unread, "observations": unseen},
            "derived": {"facts": facts.so, "observations": len(known), "goals": goals},
            "watched": watched,
            "later": self._documents.later(watched),
            "er1": {
                "synced_count": counts[Layer.ER1].items if Layer.ER1 in counts else 0,
                **(self._er1() if self._er1 else {"connected": False, "last_sync": None, "url": "", "problem": ""}),
            },
            "overflow": self.overflow(),
            "decisions": decisions,
            "led": _led(totals),
            "embedding": embedding,
            "background": {**budget, "messages_waiting": unread},
            "working_memory": {"entries": notes[0], "preview": notes[1][:_PREVIEW]},
            "observer": {
                "enabled": self._service.settings.observe,
                "observation_count": len(known),
                "queue_depth": unseen,
                "last_observation": known[0].at if known else None,
            },
            "observations": [
                {"id": item.id, "content": item.text, "priority": item.kind, "date": item.at}
                for item in known[:_MAX_OBSERVATIONS]
            ],
            "expertise": [each.view() for each in skills],
            "config": asdict(self._service.settings),
        }

    async def counts(self) -> MemoryCounts:
        """How much there is of what."""
        (counts, layers), embedding, decisions, facts = await asyncio.gather(
            self._counted(), self._embedding.counts(), self._decisions(), self._store.facts.count(self._scope)
        )
        totals = self._totals(counts)
        return MemoryCounts(
            totals,
            {name: counts[name].items if name in counts else 0 for name in layers},
            embedding["embedded"],
            self.overflow(),
            decisions,
            {"all": facts.all, "unsure": facts.unsure, "ended": facts.ended, "unanswered": facts.unanswered},
            _led(totals),
        )

    def _totals(self, counts: Mapping[str, LayerCount]) -> MemoryTotals:
        total = sum(each.items for each in counts.values())
        return {
            "total_chunks": total,
            "max_chunks": self._service.settings.max_items,
            "permanent_chunks": total - sum(each.expiring for each in counts.values()),
            "oldest": min((each.oldest for each in counts.values()), default=None),
            "newest": max((each.newest for each in counts.values()), default=None),
        }

    def overflow(self) -> OverflowFigures:
        """How often prompts had no room for all that memory had."""
        seen = self._service.overflow
        return {"events": seen.events, "per_1000": seen.per_1000, "lanes": seen.lanes}

    async def _decisions(self) -> Mapping[str, int]:
        """How often what a model proposed as a fact ended so, by the names of the decisions."""
        counted = await self._store.facts.decisions()
        return {name: counted.get(name, 0) for name in FactDecision if name not in GOALS}

    async def _counted(self) -> tuple[Mapping[str, LayerCount], Mapping[str, MemoryLayer]]:
        """How much each layer holds, and all layers there are."""
        counts = {each.layer: each for each in await self._store.memory_lifecycle.count(self._scope)}
        return counts, layers_of(self._service.settings, self._plugin_layers, counts)

    async def _layers(self, name: str) -> Sequence[str]:
        """The layer of this name. Raises InvalidRequest, with those there are."""
        _, layers = await self._counted()
        if name in layers:
            return (name,)
        told = translatable("there is no layer {layer}; layers: {layers}, or all", layer=name, layers=", ".join(layers))
        raise InvalidRequest(told)

    def _view(self, found: Recalled) -> MemoryItemAnswer:
        return item_view(found, self._plugin_layers)

    async def items(self, criteria: MemoryQuery) -> MemoryItemsAnswer:
        """The items for which the filter holds: with a query the best first, else the newest.

        `problem` tells why meaning was not looked at, `unassisted` why a model that should did not help.
        """
        found = [self._view(each) for each in await self._select(criteria, standing=True)]
        problem = self._embedding.problem if criteria.query else ""
        unassisted = self._assistance.problem if criteria.query and self._assistance else ""
        return {"items": found, "problem": problem, "unassisted": unassisted}

    async def recalled(self, turn: str = "", session: str = "") -> RecalledAnswer:
        """What this turn was shown, or the newest that was shown any. Raises NotFound."""
        for each in (TurnId(turn),) if turn else await self._store.turns.latest(SessionKey(session) or None, _TURNS):
            steps = await self._store.journal.load_steps(each)
            shown = [memory for step in steps if isinstance(step, ModelAsked) for memory in step.recalled]
            if shown:
                return {"turn": each, "items": [await self._shown(memory) for memory in shown]}
        if turn and await self._store.turns.find(turn) is None:
            raise NotFound(translatable("There is no turn {turn}.", turn=turn))
        return {"turn": turn, "items": []}

    async def _shown(self, memory: RecalledMemory) -> MemoryItemAnswer | ForgottenItemAnswer:
        parts = dict(memory.parts)
        item = await self._service.find(memory.id, self._scope)
        if item is None:
            return {"id": memory.id, "score": memory.score, "parts": parts, "forgotten": True}
        return self._view(Recalled(item, memory.score, parts))

    async def item(self, id: str) -> MemoryItemAnswer:
        """One item, whole. Raises NotFound."""
        return item_view(Recalled(await self._find(id), 0.0), self._plugin_layers, whole=True)

    async def add(self, text: str, session: str = "") -> MemoryItemAnswer:
        """Remember what the owner says, in this conversation. Raises InvalidRequest."""
        if not text.strip():
            raise InvalidRequest(translatable("the text is empty"))
        source = f"{session}, " if session else ""
        id = await self._store.memories.remember(text.strip(), SessionKey(OWNER), OWNER_LABEL, source)
        self._notify()
        return item_view(Recalled(await self._find(id), 0.0))

    async def add_files(self, path: str) -> AsyncIterator[FilesAnswer]:
        """Remember a file, or a folder of them, by their sections, now and when they change.

        Raises NotFound, InvalidRequest.
        """
        async for each in self._documents.add(Path(path)):
            if each.seen == each.of:
                await self._service.count(self._store.memory_lifecycle)
                self._notify()
            yield {
                "files": each.files, "new": each.new, "seen": each.seen, "of": each.of, "problems": [*each.problems],
                "unread": each.unread, "kinds": [*each.kinds],
            }  # fmt: skip

    async def facts(self, criteria: FactsQuery) -> FactsAnswer:
        """The facts for which the filter holds, with what they were taken from and what contradicts them."""
        facts, at = self._store.facts, criteria.valid_at or criteria.known_at or self._clock.now().timestamp()
        if criteria.known_at:
            found = await facts.known_at(self._scope, criteria.known_at)
        else:
            found = await (facts.recorded(self._scope) if criteria.ever else facts.known(self._scope))
        found = [fact for fact in found if criteria.past or is_valid_at(fact, at)]
        against = contradicted(found)
        return {"facts": [fact_view(fact, against.get(fact.id, ())) for fact in found]}

    async def settle(self, id: str, action: FactAction, right: str = "") -> SettledFactAnswer:
        """Change a fact. Raises NotFound, InvalidRequest."""
        try:
            before, after = await self._fact_editor.settle(id, action, right, self._scope)
        except NotFound as unknown:
            if action is not FactAction.UNDO:
                raise
            try:
                goal = fact_of(await self._store.goals.turn_back(self._scope, id))
            except NotFound:
                raise unknown from None
            before, after = goal, [goal]
        return {"before": fact_view(before), "after": [*map(fact_view, after)]}

    async def goals(self, *, closed: bool) -> GoalsAnswer:
        """What the owner wants to reach, with what came of it; `closed`: what is done or dropped too."""
        known, now = await self._store.goals.goals(self._scope), self._clock.now().timestamp()
        return {"goals": [goal_view(goal, now) for goal in known if closed or goal.state is GoalState.OPEN]}

    async def set_goal(self, change: SetGoalRequest) -> GoalAnswer:
        """Keep a goal, or change one. Raises InvalidRequest, NotFound."""
        goals, now, text = self._store.goals, self._clock.now().timestamp(), " ".join(change.text.split())
        stored = [state.value for state in GoalState if state is not GoalState.STALLED]
        if change.state and change.state not in stored:
            raise InvalidRequest(translatable("a goal's state is one of {states}", states=", ".join(stored)))
        if not change.id:
            if not text:
                raise InvalidRequest(translatable("the text is empty"))
            if change.state or change.note:
                raise InvalidRequest(
                    translatable("a state and a note need the id of a goal; `hob memory goals` lists them")
                )
            return goal_view(await goals.add(self._scope, Goal(text=text, label=OWNER_LABEL, due=change.due)), now)
        note = GoalNote(" ".join(change.note.split())) if change.note.strip() else None
        state = GoalState(change.state) if change.state else None
        return goal_view(await goals.change(self._scope, change.id, state, change.due, note, OWNER_LABEL), now)

    async def forget(self, request: ForgetRequest) -> ForgottenAnswer:
        """Forget for ever what the filter finds, with `said` the conversation too in which it was said; with
        `preview` only tell what.

        Raises InvalidRequest where nothing limits it, NotFound.
        """
        if not (request.id or request.source or request.origin or request.since or request.layer):
            raise InvalidRequest(translatable("say what to forget: an id, a source, an origin, a layer or a time"))
        if request.id:
            item = await self._service.find(request.id, self._scope)
            if item is None:
                return await self._forget_said(request.id, preview=request.preview, said=request.said)
            found = [item]
        else:
            wanted = MemoryQuery("", request.layer, request.source, request.origin, request.since, _MAX)
            found = [each.item for each in await self._select(wanted)]
        turns = await self._turns(found) if found else {}
        quotes = await self._quotes(found)
        traces = set(turns.values()) | (quotes.traces if quotes and len(quotes.traces) <= MAX_QUOTES else set())
        ids = [item.id for item in found]
        view: ForgottenAnswer = {
            "items": [self._view(Recalled(item, 0.0)) for item in found],
            "turns": sorted(turns) if request.said else [],
            "backups": [str(file) for file in await asyncio.to_thread(copies_with, self._home, ids)],
            "erased": 0,
            "quoted": _count(quotes, turns.values() if request.said else ()),
        }
        if not request.preview:
            await self._documents.stop_watching(request.source)
        if request.preview or not found:
            return view
        versions = await self._store.facts.versions(self._scope, ids)
        pieces = await self._erase_traces(traces) if request.said else 0  # before the items: it can be done again
        if request.id and quotes and len(quotes.traces) <= MAX_QUOTES:
            await self._store.items.note_forgotten(self._scope, ids[0], () if request.said else traces)
        pieces += await self._store.erasure.erase_items([*ids, *versions], _REASON)
        self._fact_editor.on_withdrawal()
        return {**view, "erased": pieces, "quoted": _count(await self._quotes(found))}

    async def _forget_said(self, id: str, *, preview: bool, said: bool) -> ForgottenAnswer:
        """Erase the messages that still say what was forgotten before."""
        known = await self._store.items.of(self._scope).forgotten(id) if said and len(id) >= _SHORTEST_ID else None
        if known is None:
            raise NotFound(translatable("nothing in memory has the id {id}", id=id))
        whole, traces = known
        pieces = 0
        if not preview:
            pieces = await self._erase_traces(traces)
            await self._store.items.note_forgotten(self._scope, whole, ())
            self._fact_editor.on_withdrawal()
        backups = [str(file) for file in await asyncio.to_thread(copies_with, self._home, [whole])]
        quoted = len(traces) if preview else 0
        return {"items": [], "turns": [], "backups": backups, "erased": pieces, "quoted": quoted}

    async def _erase_traces(self, traces: Iterable[str]) -> int:
        return sum([await self._store.erasure.erase_trace(TraceId(trace), _REASON) for trace in sorted(traces)])

    async def trust(self, source: str, *, undo: bool = False) -> TrustedAnswer:
        """Count what is there now of a source as the owner's own words, or no longer. Raises InvalidRequest."""
        if not source.startswith((f"{Layer.DOCUMENT}:", f"{Layer.CONVERSATION}:")):
            raise InvalidRequest(
                translatable("{source} is neither document:PATH nor conversation:ASSISTANT", source=source or "-")
            )
        trust = Trust.UNTRUSTED if undo else Trust.TRUSTED
        changed = await self._store.items.trust(self._scope, source, trust)
        if changed:
            entry = of_action("memory_trust", trust.value, SenderClass.OWNER, target=source)
            await self._store.audit.add(entry)
        if undo:
            self._fact_editor.on_withdrawal()
        return {"changed": changed}

    async def prune(self) -> DeletedAnswer:
        """Let go of what has expired and of what is too much."""
        return {"status": "ok", "deleted": await self._service.prune(self._store.memory_lifecycle)}

    async def reset(self, layer: str) -> DeletedAnswer:
        """Empty a layer, the working notes (`working_memory`), or `all`. Raises InvalidRequest."""
        whole = layer == "all"
        layers = tuple((await self._counted())[1]) if whole else () if layer == _NOTES else await self._layers(layer)
        gone = await self._store.memory_lifecycle.reset(self._scope, layers) if layers else 0
        if whole or not layers:
            gone += await self._store.working_notes.clear()
        self._fact_editor.on_withdrawal()
        self._reread_files()
        self._documents.reread()
        return {"status": "ok", "deleted": gone}

    async def export(self) -> AsyncIterator[str]:
        """Every item as a line of JSON with its fact or goal, the oldest first; always in the same order."""
        for each in await self._store.memory_carrier.carried(self._scope):
            yield json.dumps(carried_view(each), ensure_ascii=False) + "\n"

    async def import_items(self, lines: Iterable[str]) -> AsyncIterator[ImportedAnswer]:
        """Keep items that were carried out, each once. What is not the owner's own words stays untrusted.

        Raises InvalidRequest for what is none, before anything is kept.
        """
        now = self._clock.now().timestamp()
        carried = [loaded(line, number, now) for number, line in enumerate(lines, 1) if line.strip()]
        new = 0
        for start in range(0, len(carried) or 1, _AT_ONCE):
            some = carried[start : start + _AT_ONCE]
            new += await self._store.memory_carrier.import_items(some)
            if start + len(some) == len(carried):
                await self._service.count(self._store.memory_lifecycle)
                self._fact_editor.on_withdrawal()
                self._notify()
            yield {"items": start + len(some), "new": new, "of": len(carried)}

    def _notify(self) -> None:
        self._embedding.notify()

    async def _find(self, id: str) -> MemoryItem:
        item = await self._service.find(id, self._scope)
        if item is None:
            raise NotFound(
                translatable("no single item in memory has an id beginning with {id}; give 6 characters or more", id=id)
            )
        return item

    async def _select(self, criteria: MemoryQuery, *, standing: bool = False) -> Sequence[Recalled]:
        """What the filter finds; `standing`: not what was taken back or replaced."""
        layers = await self._layers(criteria.layer) if criteria.layer else ()
        if criteria.query:
            as_of = criteria.as_of or math.inf
            found = await self._service.search(criteria.query, self._scope, criteria.limit, layers, as_of=as_of)
            return [each for each in found if _holds(criteria, each.item)]
        tests = {
            "i.layer = ?": criteria.layer,
            "(i.source = ? OR substr(i.source, 1, length(?) + 1) IN (? || ':', ? || '/'))": criteria.source,
            "i.origin = ?": criteria.origin,
            "i.at >= ?": criteria.since,
            STOOD: criteria.as_of,
        }
        chosen: list[tuple[str, object]] = [(test, value) for test, value in tests.items() if value]
        if standing and not criteria.as_of:
            chosen.append(("i.superseded_by = ?", ""))
        if criteria.waiting:
            chosen.append(await self._waiting(criteria.waiting))
        where = " AND ".join(test for test, _ in chosen) or "1"
        values = [value for test, value in chosen for _ in range(test.count("?"))]
        items = await self._store.items.of(self._scope).select(where, values, limit=criteria.limit)
        return [Recalled(item, 0.0) for item in items]

    async def _waiting(self, name: str) -> tuple[str, int]:
        """What tells the items that wait for this, with how far the work has come. Raises InvalidRequest."""
        if name == "vectors":
            return "i.seq > ?", _END if (place := await self._embedding.place()) is None else place
        if name not in _WORKS:
            told = translatable("{name} is none of {names}", name=name, names=", ".join(("vectors", *_WORKS)))
            raise InvalidRequest(told)
        return f"i.seq > ? AND {OWNERS_WORDS}", await self._store.memory_work.place(_WORKS[name])

    async def _quotes(self, items: Sequence[MemoryItem]) -> Quotes | None:
        """The messages that repeat one of these items; None where they are too many to look for."""
        texts = [item.text for item in items]
        return await self._store.erasure.quotes(texts) if len(texts) <= MAX_QUOTES else None

    async def _turns(self, items: Sequence[MemoryItem]) -> dict[str, str]:
        return dict(await self._store.items.of(self._scope).turns([item.id for item in items]))


def _led(totals: MemoryTotals) -> str:
    expiring = totals["total_chunks"] - totals["permanent_chunks"]
    return led(totals["total_chunks"], expiring / totals["max_chunks"])


def _count(quotes: Quotes | None, but: Collection[str] = ()) -> int | None:
    return None if quotes is None else len(quotes.traces.difference(but)) + quotes.imported


def _holds(criteria: MemoryQuery, item: MemoryItem) -> bool:
    return (
        (
            not criteria.source
            or item.source == criteria.source
            or item.source.startswith((f"{criteria.source}:", f"{criteria.source}/"))
        )
        and (not criteria.origin or item.label.origin == criteria.origin)
        and item.at >= criteria.since
    )
