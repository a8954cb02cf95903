"""Probes of models: one small request each, reported as rows."""

import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from hob.agent.budget.accounting import stream_outside
from hob.agent.budget.budget import Budget
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.app.settings.sections import choose_models
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.config.secrets import SecretSources
from hob.core.clock import Clock
from hob.core.errors import BudgetExceeded, ModelError, NotConfigured
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, new_event_id, new_span_id, new_trace_id
from hob.core.models import ModelReply, ModelRequest, ReasoningDelta, TextDelta, UserMessage
from hob.core.tools import ToolSpec
from hob.core.trust.labels import HOB_LABEL, SenderClass
from hob.core.values import dataclass
from hob.gateway.administration import TriedAnswer
from hob.providers.catalog.prices import ModelProfiles, PriceList, open_prices
from hob.providers.media.media import Media
from hob.providers.opening import open_model
from hob.providers.routing.choice import ModelChoice
from hob.providers.routing.routing import ModelRouter
from hob.providers.settings import ModelSettings

TASK = "test"
_SESSION = SessionKey("models:test")
_MAX_INPUT = 1_000  # tokens; the question is shorter, but a server may prepend its own instructions
_QUESTION = "Reply with the one word: ready"
_TOOL = ToolSpec(
    "report",
    "Reports that the test went well.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
_CALL = "Call the tool report with the word ready. Say nothing else."
_SPOKEN = "This is Hob."


@dataclass(frozen=True, slots=True)
class ModelSetup:
    """The models that some settings make available, with their prices and profiles."""

    settings: ModelSettings
    choice: ModelChoice
    model: ModelRouter
    prices: PriceList
    profiles: ModelProfiles


@asynccontextmanager
async def open_model_setup(
    config: Config, clock: Clock, draft: ProviderConfigDraft | None = None
) -> AsyncIterator[ModelSetup]:
    """Open the models of these settings and the environment, with a draft applied. Raises NotConfigured."""
    settings, choice = config[ModelSettings], choose_models(config)
    if draft is not None:
        settings = apply_draft(config, draft)
        choice = ModelChoice(settings, process_environment())
    prices, table = open_prices(settings.prices, choice, config.home / "cache", clock)
    profiles = ModelProfiles(choice, table)
    async with open_model(settings, clock, choice=choice, profiles=profiles, folder=config.home / "cache") as model:
        yield ModelSetup(settings, choice, model, prices, profiles)


def apply_draft(config: Config, draft: ProviderConfigDraft) -> ModelSettings:
    """Return the settings with a draft applied. Raises NotConfigured for an invalid one."""
    try:
        return draft.settings(config[ModelSettings], SecretSources(process_environment(), config.home))
    except ValueError as error:
        raise NotConfigured(str(error)) from error


async def probe_model(config: Config, budget: Budget, clock: Clock, name: str, draft: str) -> TriedAnswer:
    """Ask a model for a word and for a tool call. Return the outcome as a row. Raises NotConfigured.

    With a draft, the model is reached as if the draft were saved. The calls count as the task `test`: they keep the
    budget's limits and are recorded in the ledger.
    """
    async with open_model_setup(config, clock, ProviderConfigDraft.read(draft) if draft else None) as setup:
        return await _Probe(setup.model, budget.with_prices(setup.prices), clock).run(name)


@dataclass(frozen=True, slots=True)
class _TimedReply:
    """A reply, its cost in micro-dollars, and the seconds to its first piece and to its end."""

    reply: ModelReply
    cost: int | None
    first: float
    seconds: float


@dataclass(frozen=True, slots=True)
class _Probe:
    model: ModelRouter
    budget: Budget
    clock: Clock

    async def run(self, name: str) -> TriedAnswer:
        row: TriedAnswer = {"model": name, "ok": False, "tools": None, "trouble": ""}
        try:
            asked = ModelRequest(name, "", (UserMessage(_QUESTION),), max_tokens=256, task=TASK)
            routed = (await self.model.route(asked)).request
            request = ModelRequest(
                routed.first, "", routed.messages, max_tokens=256, task=TASK, models=routed.models[:1]
            )
            row["model"] = request.model
            word = await self._ask(request)
            row |= {"first": round(word.first, 3), "seconds": round(word.seconds, 3)}
            row |= {"cost": word.cost, "answer": word.reply.text.strip()}
        except (ModelError, BudgetExceeded) as error:
            return row | {"trouble": str(error)}
        return await self._try_tools(request, row)

    async def _try_tools(self, request: ModelRequest, row: TriedAnswer) -> TriedAnswer:
        """Return whether the answering model also calls a tool; not tested if the owner gives it no tools."""
        if self.model.has_no_tools(request.first):
            return row | {"ok": True}
        tools = replace(request, messages=(UserMessage(_CALL),), tools=(_TOOL,), max_tokens=512)
        try:
            called = await self._ask(tools)
        except (ModelError, BudgetExceeded) as error:
            return row | {"trouble": f"it answers, but its tool call failed: {error}"}
        if not any(call.name == _TOOL.name for call in called.reply.calls):
            return row | {"tools": False, "trouble": "it answers, but calls no tool when it is told to"}
        return row | {"ok": True, "tools": True}

    async def _ask(self, request: ModelRequest) -> _TimedReply:
        """Send one request. Raises ModelError and BudgetExceeded."""
        began, first = self.clock.monotonic(), 0.0
        reply = ModelReply("")
        async with (
            self.budget.reserve(_SESSION, SenderClass.OWNER, request, _MAX_INPUT) as held,
            aclosing(stream_outside(self.budget, self.model, held, partial(self._event, began))) as events,
        ):
            async for event in events:
                if not first and isinstance(event, (TextDelta, ReasoningDelta)):
                    first = self.clock.monotonic() - began
                if isinstance(event, ModelReply):
                    reply = event
        cost = self.budget.cost_of_reply(request.first, reply)
        return _TimedReply(reply, cost, first, self.clock.monotonic() - began)

    def _event(self, began: float, name: str, status: str) -> TimelineEvent:
        seconds = self.clock.monotonic() - began
        return TimelineEvent(
            new_event_id(),
            new_trace_id(),
            new_span_id(),
            None,
            self.clock.now().timestamp() - seconds,
            EventKind.MODEL,
            name,
            status,
            session=_SESSION,
            label=HOB_LABEL,
            seconds=seconds,
        )


async def try_media(media: Media) -> AsyncIterator[dict[str, Any]]:
    """Try embedding, speech, transcription of that speech, and vision; yield one row each."""
    spoken: list[bytes] = []

    async def embed() -> str:
        assert media.embedder is not None  # noqa: S101 - present whenever there is no problem
        made = await media.embedder.embed(["hello", "good morning"])
        return f"{len(made.vectors[0])} dimensions"

    async def rate() -> str:
        assert media.reranker is not None  # noqa: S101
        rated = (await media.reranker.rerank("Which animal purrs?", ["Cats purr.", "Taxes are due in May."])).scores
        return "rates what helps best" if rated[0] > rated[1] else "rates what does not help as high as what does"

    async def speak() -> str:
        assert media.speaker is not None  # noqa: S101
        spoken.extend([piece async for piece in media.speaker.speak(_SPOKEN)])
        return f"{sum(map(len, spoken))} bytes of {media.speaker.media_type}"

    async def transcribe_sample() -> str:
        assert media.transcriber is not None  # noqa: S101
        if not spoken or media.speaker is None:
            return "not tried: nothing was spoken that could be heard"
        heard = await media.transcriber.transcribe(b"".join(spoken), media.speaker.media_type, "en")
        return f"heard {heard.text!r}"

    async def look() -> str:
        assert media.describer is not None  # noqa: S101
        seen = await media.describer.describe(_red_square(), "image/png", "Which colour is this? One word.")
        return f"saw {seen.text!r}"

    for kind, attempt in (
        ("embedding", embed),
        ("speech", speak),
        ("transcription", transcribe_sample),
        ("vision", look),
    ):
        yield await _attempt(media, kind, attempt)
    if not isinstance(media.find("reranking"), ModelError):  # optional, so its absence is not reported
        yield await _attempt(media, "reranking", rate)


async def _attempt(media: Media, kind: str, attempt: Callable[[], Awaitable[str]]) -> dict[str, Any]:
    found = media.find(kind)
    if isinstance(found, ModelError):
        return {"kind": kind, "model": "none", "ok": False, "told": str(found)}
    row = {"kind": kind, "model": str(found), "ok": True}
    try:
        return row | {"told": await attempt()}
    except ModelError as error:
        return row | {"ok": False, "told": str(error)}


def _red_square(side: int = 64) -> bytes:
    """Return a red PNG image: https://www.w3.org/TR/png-3/"""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
