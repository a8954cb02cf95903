"""Memory figures and memory settings, below `/api/v1`."""

from collections.abc import Mapping
from typing import Any, TypedDict

from hob.core.errors import InvalidRequest
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass
from hob.gateway.answer_types import SettingsAnswer
from hob.gateway.dashboard.endpoint_names import NamedEndpoints, own
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response
from hob.gateway.lazy_ports import MemoryControls
from hob.gateway.memory import MemoryQuery
from hob.gateway.routes.memory import ENDPOINTS as OWN
from hob.gateway.routes.memory import items


class MemoryFigures(TypedDict):
    """Memory in figures.

    chunksEmbedded: items that have an embedding
    chunks_total: the same as `chunksTotal`
    full: used share of `max_chunks`
    overflowEvents: prompts since the start that had no room for all recalled memories
    overflowPer1000: the same per thousand turns
    """

    chunksTotal: int
    chunksEmbedded: int
    chunks_total: int
    chunks_expiring: int
    max_chunks: int
    full: float
    by_layer: dict[str, Any]
    overflowEvents: int
    overflowPer1000: float
    overflow: dict[str, int]


class DecisionFigures(TypedDict):
    """All-time outcomes of facts proposed by a model.

    approved: recorded, or confirmed a known fact
    rejected: not said by the owner, only asked, or outdated by something newer
    expired: confirmation questions about outdated facts that stayed unanswered
    """

    approved: int
    rejected: int
    expired: int
    add: int
    update: int
    supersede: int
    merge: int
    none: int
    ask: int


class MemoryObjectives(TypedDict):
    """KafClaw's approximations of memory quality.

    precisionProxy: share of decisions that approved a fact
    recallProxy: accepted facts per approved decision
    conflictRate: share of facts that are uncertain
    """

    precisionProxy: float
    recallProxy: float
    conflictRate: float


class KnowledgeFigures(TypedDict):
    """Facts in figures.

    factsLatest: all currently recorded facts
    factsAccepted: facts in force
    factsStale: facts that are no longer true
    factsConflict: uncertain facts that await your confirmation
    """

    factsLatest: int
    factsAccepted: int
    factsStale: int
    factsConflict: int
    decisions: DecisionFigures


class MemoryMetricsAnswer(TypedDict):
    """Memory in figures."""

    memory: MemoryFigures
    knowledge: KnowledgeFigures
    slo: MemoryObjectives
    led: str


@dataclass(frozen=True, slots=True)
class MemorySettingsChange:
    """Changes to memory settings."""

    values: dict[str, Any] = field("values by their names in the section `memory`; null takes a change back")


async def metrics(call: EndpointCall[Nothing]) -> JsonResponse[MemoryMetricsAnswer]:
    """Count items and facts, and report how full the expiring layers are."""
    totals, layers, embedded, overflow, decisions, facts, led = await call.api.port(MemoryControls).status.counts()
    knowledge: KnowledgeFigures = {
        "factsLatest": facts["all"],
        "factsAccepted": facts["all"] - facts["unsure"],
        "factsStale": facts["ended"],
        "factsConflict": facts["unsure"],
        "decisions": _decisions(decisions, facts["unanswered"]),
    }
    expiring = totals["total_chunks"] - totals["permanent_chunks"]
    view: MemoryFigures = {
        "chunksTotal": totals["total_chunks"],
        "chunksEmbedded": embedded,
        "chunks_total": totals["total_chunks"],
        "chunks_expiring": expiring,
        "max_chunks": totals["max_chunks"],
        "full": expiring / totals["max_chunks"],
        "by_layer": dict(layers),
        "overflowEvents": overflow["events"],
        "overflowPer1000": overflow["per_1000"],
        "overflow": overflow["lanes"],
    }
    answer: MemoryMetricsAnswer = {
        "memory": view,
        "knowledge": knowledge,
        "slo": _objectives(knowledge),
        "led": led,
    }
    return etagged(call.request, answer)


def _decisions(counted: Mapping[str, int], expired: int) -> DecisionFigures:
    add, update, supersede, merge = (counted[each] for each in ("add", "update", "supersede", "merge"))
    return {
        "approved": add + update + supersede + merge, "rejected": counted["none"], "expired": expired,
        "add": add, "update": update, "supersede": supersede, "merge": merge,
        "none": counted["none"], "ask": counted["ask"],
    }  # fmt: skip


def _objectives(known: KnowledgeFigures) -> MemoryObjectives:
    decided = known["decisions"]
    all_ = decided["approved"] + decided["rejected"] + decided["ask"]
    return {
        "precisionProxy": decided["approved"] / max(1, all_),
        "recallProxy": known["factsAccepted"] / max(1, decided["approved"]),
        "conflictRate": known["factsConflict"] / max(1, known["factsLatest"]),
    }


async def config(call: EndpointCall[MemorySettingsChange]) -> JsonResponse[SettingsAnswer]:
    """Change memory settings that are changeable at run time."""
    if not call.payload.values:
        raise InvalidRequest("values must name a setting")
    values = {f"memory.{name}": value for name, value in call.payload.values.items()}
    changed = await call.api.operations.change_settings(values, call.caller.by)
    return json_response({"settings": [each for each in changed if str(each["key"]).startswith("memory.")]})


_same = NamedEndpoints(OWN).same
READ, ADMIN = TokenScope.READ, TokenScope.ADMIN
ENDPOINTS = (
    _same("GET", "/memory/status"),
    own("GET", "/memory/metrics", metrics, READ),
    own("GET", "/memory/search", items, ADMIN, MemoryQuery),
    _same("GET", "/memory/embedding/status"),
    _same("GET", "/memory/embedding/healthz"),
    _same("POST", "/memory/embedding/install"),
    _same("POST", "/memory/embedding/reindex"),
    _same("GET", "/memory/items"),
    _same("GET", "/memory/items/{id}"),
    _same("GET", "/memory/recalled"),
    _same("POST", "/memory/items"),
    _same("GET", "/memory/facts"),
    _same("POST", "/memory/facts"),
    _same("GET", "/memory/goals"),
    _same("POST", "/memory/goals"),
    _same("POST", "/memory/forget"),
    _same("POST", "/memory/prune"),
    _same("POST", "/memory/reset"),
    own("POST", "/memory/config", config, ADMIN, MemorySettingsChange),
)
