"""The owner's memory."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from starlette.responses import Response, StreamingResponse

from hob.core.errors import InvalidRequest
from hob.core.memory import FactAction, GoalAnswer, MemoryItemAnswer
from hob.core.translation.fact_words import render_fact_for_owner
from hob.core.translation.language import translatable, translated
from hob.core.values import dataclass
from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import JSON, LINES, Endpoint, EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, json_response, language_of
from hob.gateway.lazy_ports import MemoryControls
from hob.gateway.memory import (
    DeletedAnswer,
    EmbeddingStatusAnswer,
    FactsAnswer,
    FactsQuery,
    FilesAnswer,
    ForgetRequest,
    ForgottenAnswer,
    GoalsAnswer,
    ImportedAnswer,
    InstalledAnswer,
    MemoryItemsAnswer,
    MemoryQuery,
    MemoryStatusAnswer,
    RecalledAnswer,
    ReindexedAnswer,
    SetGoalRequest,
    SettledFactAnswer,
    TrustedAnswer,
)

T = TypeVar("T", bound=Mapping[str, Any])

_MAX_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class RecalledQuery:
    """The turn whose memories to show."""

    turn: str = field("a turn or one of its messages; without one, the newest that was shown memories", "")


@dataclass(frozen=True, slots=True)
class ReindexRequest:
    """A confirmation that all vectors are rebuilt."""

    confirmWipe: bool = field("must be true: the existing vectors are dropped at once", False)  # noqa: N815 - KafClaw's
    reason: str = field("why, for the log", "")


@dataclass(frozen=True, slots=True)
class InstallModelRequest:
    """The embedding model to install."""

    model: str = field("the one in `model.embedding`, which is the default", "", characters=(0, 500))


@dataclass(frozen=True, slots=True)
class AddItemRequest:
    """A text to remember."""

    text: str = field("the text", "")


@dataclass(frozen=True, slots=True)
class AddFilesRequest:
    """Documents to remember."""

    path: str = field("the file or folder", "")


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """A source to trust."""

    source: str = field("`document:PATH`, or `conversation:ASSISTANT` of imported ones", "")
    undo: bool = field("stop counting it so", False)


@dataclass(frozen=True, slots=True)
class SettleFactRequest:
    """A change of a fact."""

    id: str = field("the beginning of its item's id", "")
    action: str = field("`correct`, `confirm` or `undo`", "correct")
    object: str = field("the right value; without one, the fact is simply wrong", "")


@dataclass(frozen=True, slots=True)
class GoalsQuery:
    """The goals to show."""

    closed: bool = field("include those done or dropped", False)


@dataclass(frozen=True, slots=True)
class ResetLayerRequest:
    """A layer of memory."""

    layer: str = field("its name, `working_memory` or `all`", "")


@dataclass(frozen=True, slots=True)
class ImportItemsRequest:
    """Exported items."""

    text: str = field("the items, a line of JSON each, with at least `text`; times as Unix seconds or ISO 8601", "")


def _memory(call: EndpointCall[Any]) -> MemoryControls:
    return call.api.port(MemoryControls)


async def status(call: EndpointCall[Nothing]) -> JsonResponse[MemoryStatusAnswer]:
    """Report how much Hob remembers, by layer."""
    return json_response(await _memory(call).status.status())


async def embedding(call: EndpointCall[Nothing]) -> JsonResponse[EmbeddingStatusAnswer]:
    """Report the embedding model, its state, and how many memories are embedded."""
    return json_response(await _memory(call).embedding.status())


async def embedding_health(call: EndpointCall[Nothing]) -> JsonResponse[EmbeddingStatusAnswer]:
    """Report the same; 503 if no vectors can be made. An embedder that was never called is called once."""
    told = await _memory(call).embedding.check()
    return json_response(told, 200 if told["runtime"]["ready"] else 503)


async def install(call: EndpointCall[InstallModelRequest]) -> JsonResponse[InstalledAnswer]:
    """Prepare the model of `model.embedding`: a model of the library fastembed is downloaded now.

    To use another model, change the setting and restart.
    """
    return json_response(await _memory(call).embedding.install(call.payload.model))


async def reindex(call: EndpointCall[ReindexRequest]) -> JsonResponse[ReindexedAnswer]:
    """Drop all vectors; they are rebuilt in the background, and until then memory searches by words."""
    if not call.payload.confirmWipe:
        raise InvalidRequest(translatable("all vectors are dropped and made anew: send confirmWipe=true"))
    return json_response(await _memory(call).embedding.reindex(call.payload.reason))


async def items(call: EndpointCall[MemoryQuery]) -> JsonResponse[MemoryItemsAnswer]:
    """Search what Hob remembers: with a query the best matches first, each with the parts of its score; else the
    newest.
    """
    return json_response(await _memory(call).items.items(call.payload))


async def recalled(call: EndpointCall[RecalledQuery]) -> JsonResponse[RecalledAnswer]:
    """Return the memories that a turn was shown automatically, each with the parts of its score."""
    return json_response(await _memory(call).items.recalled(call.payload.turn))


async def item(call: EndpointCall[Nothing]) -> JsonResponse[MemoryItemAnswer]:
    """Return one item, by the beginning of its id."""
    return json_response(await _memory(call).items.item(call.id))


async def add(call: EndpointCall[AddItemRequest]) -> JsonResponse[MemoryItemAnswer]:
    """Remember a text."""
    return json_response(await _memory(call).items.add(call.payload.text))


async def add_files(call: EndpointCall[AddFilesRequest]) -> JsonResponse[FilesAnswer] | Response:
    """Remember a file or a folder of files, by sections, now and whenever they change.

    With `Accept: application/jsonl` a line reports the progress after each file.
    """
    return await _progress(call, _memory(call).items.add_files(call.payload.path))


async def facts(call: EndpointCall[FactsQuery]) -> JsonResponse[FactsAnswer]:
    """List the facts that Hob knows, each with its source and what contradicts it."""
    answer, language = await _memory(call).facts.facts(call.payload), language_of(call.request)
    for each in answer["facts"]:
        told = render_fact_for_owner(each["subject"], each["predicate"], each["object"])
        each["sentence"] = translated(told, language)
    return json_response(answer)


async def settle(call: EndpointCall[SettleFactRequest]) -> JsonResponse[SettledFactAnswer]:
    """Correct, confirm or undo a fact."""
    try:
        action = FactAction(call.payload.action)
    except ValueError:
        raise InvalidRequest(translatable("the action is one of {actions}", actions=", ".join(FactAction))) from None
    return json_response(await _memory(call).facts.settle(call.payload.id, action, call.payload.object))


async def goals(call: EndpointCall[GoalsQuery]) -> JsonResponse[GoalsAnswer]:
    """List the owner's goals, with their outcomes."""
    return json_response(await _memory(call).facts.goals(closed=call.payload.closed))


async def set_goal(call: EndpointCall[SetGoalRequest]) -> JsonResponse[GoalAnswer]:
    """Add or change a goal."""
    return json_response(await _memory(call).facts.set_goal(call.payload))


async def forget(call: EndpointCall[ForgetRequest]) -> JsonResponse[ForgottenAnswer]:
    """Forget permanently: the items, what was derived from them and, if asked, the original messages."""
    return json_response(await _memory(call).upkeep.forget(call.payload))


async def trust(call: EndpointCall[TrustRequest]) -> JsonResponse[TrustedAnswer]:
    """Set whether a source's current content counts as its owner's own words."""
    return json_response(await _memory(call).upkeep.trust(call.payload.source, undo=call.payload.undo))


async def prune(call: EndpointCall[Nothing]) -> JsonResponse[DeletedAnswer]:
    """Delete expired and excess memories."""
    return json_response(await _memory(call).upkeep.prune())


async def reset(call: EndpointCall[ResetLayerRequest]) -> JsonResponse[DeletedAnswer]:
    """Empty a layer of memory."""
    return json_response(await _memory(call).upkeep.reset(call.payload.layer))


async def export(call: EndpointCall[Nothing]) -> Response:
    """Export every item as a line of JSON."""

    async def lines() -> AsyncIterator[str]:
        async for line in _memory(call).upkeep.export():
            yield line

    return StreamingResponse(lines(), media_type=LINES)


async def import_items(call: EndpointCall[ImportItemsRequest]) -> JsonResponse[ImportedAnswer] | Response:
    """Import exported items, each once.

    With `Accept: application/jsonl` lines report the progress.
    """
    return await _progress(call, _memory(call).upkeep.import_items(call.payload.text.split("\n")))


async def _progress(call: EndpointCall[Any], steps: AsyncIterator[T]) -> JsonResponse[T] | Response:
    """Return the last of these, or each as it arrives if the caller wants lines."""
    step = await anext(steps)  # errors are reported before the answer begins
    if not call.wants(LINES):
        async for each in steps:
            step = each
        return json_response(step)

    async def lines() -> AsyncIterator[str]:
        yield json.dumps(step) + "\n"
        async for each in steps:
            yield json.dumps(each) + "\n"

    return StreamingResponse(lines(), media_type=LINES)


ENDPOINTS = (
    Endpoint("GET", "/memory/status", status, TokenScope.READ, Nothing),
    Endpoint("GET", "/memory/embedding/status", embedding, TokenScope.READ, Nothing),
    Endpoint("GET", "/memory/embedding/healthz", embedding_health, TokenScope.READ, Nothing, statuses=(200, 503)),
    Endpoint("POST", "/memory/embedding/install", install, TokenScope.ADMIN, InstallModelRequest, local=True),
    Endpoint(
        "POST", "/memory/embedding/reindex", reindex, TokenScope.ADMIN, ReindexRequest, local=True, changes="memory"
    ),
    Endpoint("GET", "/memory/items", items, TokenScope.ADMIN, MemoryQuery),
    Endpoint("GET", "/memory/recalled", recalled, TokenScope.ADMIN, RecalledQuery, errors=("not_found",)),
    Endpoint("GET", "/memory/items/{id}", item, TokenScope.ADMIN, Nothing, errors=("not_found",)),
    Endpoint("GET", "/memory/export", export, TokenScope.ADMIN, Nothing, media=(LINES,)),
    Endpoint("GET", "/memory/facts", facts, TokenScope.ADMIN, FactsQuery),
    Endpoint(
        "POST", "/memory/facts", settle, TokenScope.ADMIN, SettleFactRequest, errors=("not_found",), local=True,
        changes="memory",
    ),
    Endpoint("GET", "/memory/goals", goals, TokenScope.ADMIN, GoalsQuery),
    Endpoint(
        "POST", "/memory/goals", set_goal, TokenScope.ADMIN, SetGoalRequest, errors=("not_found",), local=True,
        changes="memory",
    ),
    Endpoint("POST", "/memory/items", add, TokenScope.ADMIN, AddItemRequest, local=True, changes="memory"),
    Endpoint(
        "POST", "/memory/forget", forget, TokenScope.ADMIN, ForgetRequest, errors=("not_found",), local=True,
        changes="memory",
    ),
    Endpoint(
        "POST", "/memory/files", add_files, TokenScope.ADMIN, AddFilesRequest, errors=("not_found",), local=True,
        media=(JSON, LINES), changes="memory",
    ),
    Endpoint("POST", "/memory/trust", trust, TokenScope.ADMIN, TrustRequest, local=True, changes="memory"),
    Endpoint("POST", "/memory/prune", prune, TokenScope.ADMIN, Nothing, changes="memory"),
    Endpoint("POST", "/memory/reset", reset, TokenScope.ADMIN, ResetLayerRequest, local=True, changes="memory"),
    Endpoint(
        "POST", "/memory/import", import_items, TokenScope.ADMIN, ImportItemsRequest,
        max_bytes=_MAX_BYTES, local=True, media=(JSON, LINES), changes="memory",
    ),
)  # fmt: skip
