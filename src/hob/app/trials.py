"""Trying models out: one small request each, told as rows."""

import struct
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast

from hob.core.errors import ModelError
from hob.core.models import ModelReply, ModelRequest, ReasoningDelta, TextDelta, UserMessage
from hob.core.ports.model import Prices
from hob.core.tools import ToolSpec
from hob.providers import Media, Routing

_QUESTION = "Reply with the one word: ready"
_TOOL = ToolSpec(
    "report",
    "Reports that the test went well.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
_CALL = "Call the tool report with the word ready. Say nothing else."
_SPOKEN = "This is Hob."


async def try_model(model: Routing, prices: Prices, name: str) -> dict[str, Any]:
    """Ask the model of this name for a word and for a call; what came of it, as a row. Never raises ModelError."""
    row: dict[str, Any] = {"model": name, "ok": False, "tools": None, "trouble": ""}
    try:
        routed = (await model.route(ModelRequest(name, "", (UserMessage(_QUESTION),), max_tokens=256))).request
        request = ModelRequest(routed.model, "", routed.messages, max_tokens=256, models=routed.models[:1])
        row["model"] = request.model
        await prices.prepare((request.model,))
        reply, first, whole = await _ask(model, request)
        price = prices.find_price(request.model)
        cost = reply.cost
        if cost is None and price is not None and reply.usage is not None:
            cost = price.cost(reply.usage)
        row |= {"ok": True, "first": first, "seconds": whole, "cost": cost, "answer": reply.text.strip()}
        tools = ModelRequest(
            request.model, "", (UserMessage(_CALL),), tools=(_TOOL,), max_tokens=512, models=request.models
        )
        called, _, _ = await _ask(model, tools)
        row["tools"] = any(call.name == _TOOL.name for call in called.calls)
    except ModelError as error:
        row["trouble"] = str(error)
    return row


async def _ask(model: Routing, request: ModelRequest) -> tuple[ModelReply, float, float]:
    """The reply, seconds to its first piece, seconds in all. Raises ModelError."""
    began, first = time.monotonic(), 0.0
    reply: ModelReply | None = None
    async with aclosing(cast(Any, model.stream(request))) as events:
        async for event in events:
            if not first and isinstance(event, (TextDelta, ReasoningDelta)):
                first = time.monotonic() - began
            if isinstance(event, ModelReply):
                reply = event
    assert reply is not None  # noqa: S101 - the last event of every stream that raises nothing
    return reply, first, time.monotonic() - began


async def try_media(media: Media) -> AsyncIterator[dict[str, Any]]:
    """Embed, speak, hear what was spoken and look at a red square; one row each."""
    spoken: list[bytes] = []

    async def embed() -> str:
        assert media.embedder is not None  # noqa: S101 - there is no reason why not
        made = await media.embedder.embed(["hello", "good morning"])
        return f"{len(made.vectors[0])} dimensions"

    async def speak() -> str:
        assert media.speaker is not None  # noqa: S101
        spoken.extend([piece async for piece in media.speaker.speak(_SPOKEN)])
        return f"{sum(map(len, spoken))} bytes of {media.speaker.media_type}"

    async def hear() -> str:
        assert media.transcriber is not None  # noqa: S101
        if not spoken or media.speaker is None:
            return "not tried: nothing was spoken that could be heard"
        heard = await media.transcriber.transcribe(b"".join(spoken), media.speaker.media_type, "en")
        return f"heard {heard.text!r}"

    async def look() -> str:
        assert media.describer is not None  # noqa: S101
        seen = await media.describer.describe(_red_square(), "image/png", "Which colour is this? One word.")
        return f"saw {seen.text!r}"

    for kind, attempt in (("embedding", embed), ("speech", speak), ("transcription", hear), ("vision", look)):
        yield await _attempt(media, kind, attempt)


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
    """A PNG: https://www.w3.org/TR/png-3/"""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
