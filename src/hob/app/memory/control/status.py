"""Status and figures of the owner's memory."""

import asyncio
from collections.abc import Mapping
from typing import Any

from hob.app.memory.control.embedding import OwnerEmbedding
from hob.app.memory.control.selection import OwnerSelection
from hob.app.memory.parts import MemoryParts
from hob.core.memory import Layer
from hob.gateway.memory import MemoryCounts, MemoryStatusAnswer, MemoryTotals, OverflowFigures
from hob.memory.background_model import FACTS, OBSERVER
from hob.memory.facts.extraction import GOALS, FactDecision
from hob.memory.settings import MemorySettings
from hob.memory.views import led
from hob.store.memory.lifecycle import LayerCount

_PREVIEW_CHARACTERS, _MAX_OBSERVATIONS = 500, 20


class OwnerStatus:
    """Implements the gateway's `StatusControl`."""

    def __init__(self, parts: MemoryParts, selection: OwnerSelection, embedding: OwnerEmbedding) -> None:
        self._parts, self._store = parts, parts.kernel.store
        self._scope, self._count_layers = selection.scope, selection.count_layers
        self._embedding = embedding

    async def status(self) -> MemoryStatusAnswer:
        """Return layers and totals, with KafClaw's fields and colours."""
        parts, store, work, scope = self._parts, self._store, self._store.memory_work, self._scope
        first, then = await asyncio.gather(  # queries queued together wake the event loop once
            asyncio.gather(
                self._count_layers(), self._embedding.counts(), parts.budget.view(), work.waiting((FACTS, OBSERVER)),
                self._decisions(), parts.documents.watched(),
            ),
            asyncio.gather(
                store.facts.count(scope), store.goals.count(scope), parts.expertise.count(),
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
            "later": parts.documents.later(watched),
            "er1": {
                "synced_count": counts[Layer.ER1].items if Layer.ER1 in counts else 0,
                **(parts.er1() if parts.er1 else {"connected": False, "last_sync": None, "url": "", "problem": ""}),
            },
            "overflow": self._overflow(),
            "decisions": decisions,
            "led": _led(totals),
            "embedding": embedding,
            "background": {**budget, "messages_waiting": unread},
            "working_memory": {"entries": notes[0], "preview": notes[1][:_PREVIEW_CHARACTERS]},
            "observer": {
                "enabled": parts.service.settings.observe,
                "observation_count": len(known),
                "queue_depth": unseen,
                "last_observation": known[0].at if known else None,
            },
            "observations": [
                {"id": item.id, "content": item.text, "priority": item.kind, "date": item.at}
                for item in known[:_MAX_OBSERVATIONS]
            ],
            "expertise": [each.view() for each in skills],
            "config": _settings_as_json(parts.service.settings),
        }

    async def counts(self) -> MemoryCounts:
        """Return the figures."""
        (counts, layers), embedding, decisions, facts = await asyncio.gather(
            self._count_layers(),
            self._embedding.counts(),
            self._decisions(),
            self._store.facts.count(self._scope),
        )
        totals = self._totals(counts)
        return MemoryCounts(
            totals,
            {name: counts[name].items if name in counts else 0 for name in layers},
            embedding["embedded"],
            self._overflow(),
            decisions,
            {"all": facts.all, "unsure": facts.unsure, "ended": facts.ended, "unanswered": facts.unanswered},
            _led(totals),
        )

    def _totals(self, counts: Mapping[str, LayerCount]) -> MemoryTotals:
        total = sum(each.items for each in counts.values())
        return {
            "total_chunks": total,
            "max_chunks": self._parts.service.settings.max_items,
            "permanent_chunks": total - sum(each.expiring for each in counts.values()),
            "oldest": min((each.oldest for each in counts.values()), default=None),
            "newest": max((each.newest for each in counts.values()), default=None),
        }

    def _overflow(self) -> OverflowFigures:
        """Return how often memories did not fit the prompt."""
        seen = self._parts.service.overflow
        return {"events": seen.events, "per_1000": seen.per_1000, "lanes": seen.lanes}

    async def _decisions(self) -> Mapping[str, int]:
        """Return how often each decision about a proposed fact was made."""
        counted = await self._store.facts.decisions()
        return {name.value: counted.get(name, 0) for name in FactDecision if name not in GOALS}


def _settings_as_json(settings: MemorySettings) -> dict[str, Any]:
    return {
        "recall": settings.recall,
        "citations": settings.citations,
        "profile": settings.profile,
        "ask_model": settings.ask_model,
        "conversation_days": settings.conversation_days,
        "tool_days": settings.tool_days,
        "group_days": settings.group_days,
        "background_tokens": settings.background_tokens,
        "observe": settings.observe,
        "observe_after": settings.observe_after,
        "max_observations": settings.max_observations,
        "max_items": settings.max_items,
    }


def _led(totals: MemoryTotals) -> str:
    expiring = totals["total_chunks"] - totals["permanent_chunks"]
    return led(totals["total_chunks"], expiring / totals["max_chunks"])
