"""Encoding of requests for `POST /v1/messages`: cache marks, thinking, images, tools.

Format: https://platform.claude.com/docs/en/api/messages
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hob.core.content.json_text import dump_json, parse_json
from hob.core.ids import BlobId, CallId, digest
from hob.core.models import (
    DEFAULT_THINKING_TOKENS,
    THINKING_TOKENS,
    AssistantMessage,
    Image,
    ModelMessage,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolSpec
from hob.core.values import dataclass
from hob.providers.http.answer import PartialJson
from hob.providers.http.past_calls import parse_arguments
from hob.providers.http.sealed_reasoning import drop_stale_reasoning
from hob.providers.media.image_descriptions import detect_image_type
from hob.providers.schemas.dialects import SchemaDialect, normalise

# Cache marks.
#
# A mark means: cache everything up to here, and look for a cached prefix here or in the blocks shortly before. A
# request has at most four. They are placed by what stays the same between two requests (see
# `hob.agent.prompt.builder`):
#
# 1. the end of the system text, which stays the same for days;
# 2. the end of the request: the next one of this turn continues from there;
# 3. the end of what precedes the message that opened the turn: that message changes in the next turn, since its
#    volatile block is removed, so the next turn continues from here;
# 4. the mark of the previous request, if more was added since than the server looks back. Otherwise the end of the
#    tools, for a conversation with the same tools and another system text.
#
# https://platform.claude.com/docs/en/build-with-claude/prompt-caching

MAX_MARKS = 4
LOOK_BACK = 20
"""Number of blocks, including its own, in which a mark finds an earlier one."""
_MARK = {"type": "ephemeral"}

Block = dict[str, Any]


def mark_cache(tools: list[Block], system: list[Block], messages: list[Block]) -> None:
    """Write the cache marks into the blocks."""
    places = _find_marks(messages)
    for place in places:
        _mark_last(messages[place]["content"])
    _mark_last(system)
    if not system or len(places) < MAX_MARKS - 1:
        _mark_last(tools)


def _find_marks(messages: Sequence[Block]) -> list[int]:
    """Return the messages that end with a mark."""
    last = len(messages) - 1
    if last < 0:
        return []
    openings = [place for place, message in enumerate(messages) if _opens_turn(message)]
    before = openings[-1] - 1 if openings else -1
    if openings and openings[-1] == last:  # the turn's first request: the previous one belonged to the previous turn
        newest, earlier = before, openings[-2] - 1 if len(openings) > 1 else -1
    else:
        newest, earlier = last, last - 2
    places = {last, before}
    if earlier >= 0 and _blocks_between(messages, earlier, newest) >= LOOK_BACK:
        places.add(earlier)
    return sorted(place for place in places if place >= 0)


def _opens_turn(message: Block) -> bool:
    """Whether the message begins a turn: it is from the user's side and not from a tool."""
    return message["role"] == "user" and not any(block["type"] == "tool_result" for block in message["content"])


def _blocks_between(messages: Sequence[Block], earlier: int, later: int) -> int:
    return sum(len(message["content"]) for message in messages[earlier + 1 : later + 1])


def _mark_last(blocks: Sequence[Block]) -> None:
    """Mark the last block that can be marked; sealed reasoning cannot."""
    for block in reversed(blocks):
        if block.get("type") not in ("thinking", "redacted_thinking"):
            block["cache_control"] = _MARK
            return


# Signed or sealed reasoning, kept as a `Continuation` and sent back in its place.
#
# The data is a JSON list of an answer's parts in order: a sealed block as received; a number, for that many characters
# of the text; null for a call. Text and calls are not included, since the message has them.
#
# https://platform.claude.com/docs/en/build-with-claude/extended-thinking#extended-thinking-with-tool-use

SEALED = ("thinking", "redacted_thinking")


class AnthropicLayout:
    """Order of an answer's parts as they arrive."""

    def __init__(self) -> None:
        self.sealed = False
        self._parts: list[PartialJson | int | None] = []
        self._told = 0

    def add_sealed(self, block: Block, text_length: int) -> PartialJson:
        """Add a sealed block, which may still grow, after `text_length` characters of text."""
        self._tell(text_length)
        self.sealed = True
        growing = PartialJson(block)
        self._parts.append(growing)
        return growing

    def add_call(self, text_length: int) -> None:
        """Add a call after `text_length` characters of text."""
        self._tell(text_length)
        self._parts.append(None)

    def _tell(self, text_length: int) -> None:
        if text_length > self._told:
            self._parts.append(text_length - self._told)
            self._told = text_length

    def data(self, text_length: int) -> str:
        """Return the JSON at the end of the answer."""
        self._tell(text_length)
        parts = [part.whole() if isinstance(part, PartialJson) else part for part in self._parts]
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def restore_blocks(data: str, text: str, calls: Sequence[Block]) -> list[Block]:
    """Return the original blocks of the answer; if the message has changed since, sealed blocks come first."""
    parts = _parse_layout(data)
    lengths = [part for part in parts if type(part) is int]
    if sum(lengths) != len(text) or sum(part is None for part in parts) != len(calls):
        said = [{"type": "text", "text": text}] if text.strip() else []
        return [*(part for part in parts if isinstance(part, dict)), *said, *calls]
    blocks: list[Block] = []
    rest, place = iter(calls), 0
    for part in parts:
        if isinstance(part, dict):
            blocks.append(part)
        elif part is None:
            blocks.append(next(rest))
        else:
            piece, place = text[place : place + part], place + part
            if piece.strip():
                blocks.append({"type": "text", "text": piece})
    return blocks


def _parse_layout(data: str) -> list[Block | int | None]:
    parts = parse_json(data)
    return [
        part
        for part in (parts if isinstance(parts, list) else ())
        if part is None or (type(part) is int and part > 0) or (isinstance(part, dict) and part.get("type") in SEALED)
    ]


# Thinking options and output limits of models, as data by name.
#
# Older models take a budget of tokens, newer ones decide themselves (`adaptive`) and take an effort; some think unless
# told otherwise, some always do. Sources: https://platform.claude.com/docs/en/build-with-claude/thinking,
# .../build-with-claude/effort, .../about-claude/models/overview and the migration guides of the models.

_MIN_BUDGET = 1_024

_EFFORT: Mapping[Thinking, str] = {
    Thinking.OFF: "low",  # the lowest effort, for models that cannot stop thinking
    Thinking.MINIMAL: "low",
    Thinking.LOW: "low",
    Thinking.MEDIUM: "medium",
    Thinking.HIGH: "high",
    Thinking.XHIGH: "xhigh",
}
_EFFORT_4_6 = {**_EFFORT, Thinking.XHIGH: "max"}


@dataclass(frozen=True, slots=True)
class _ThinkingWay:
    """Thinking options of a model family. `effort` is set for models that decide themselves.

    `off` turns thinking off: a type of `thinking`, empty if it is off by default, None if it cannot be turned off.
    """

    most_tokens: int | None = None
    budget: bool = False
    effort: Mapping[Thinking, str] | None = None
    off: str | None = ""


# The first match counts; names are in lower case, with - for each dot.
_WAYS: tuple[tuple[re.Pattern[str], _ThinkingWay], ...] = tuple(
    (re.compile(pattern), way)
    for pattern, way in (
        (r"claude-(?:fable|mythos)-", _ThinkingWay(128_000, effort=_EFFORT, off=None)),
        (r"claude-opus-5-5\b", _ThinkingWay(128_000, effort=_EFFORT, off=None)),
        (r"claude-sonnet-5-5\b", _ThinkingWay(128_000, effort=_EFFORT, off="between_tools")),
        (r"claude-(?:opus-5|sonnet-5|haiku-5-5)\b(?!-\d\b)", _ThinkingWay(128_000, effort=_EFFORT, off="disabled")),
        (r"claude-opus-4-[78]\b", _ThinkingWay(128_000, effort=_EFFORT)),
        (r"claude-(?:opus|sonnet)-4-6\b", _ThinkingWay(64_000, effort=_EFFORT_4_6)),
        (r"claude-(?:opus-4-5|sonnet-4|haiku-4)\b", _ThinkingWay(64_000, budget=True)),
        (r"claude-opus-4\b", _ThinkingWay(32_000, budget=True)),
        (r"claude-3-7-", _ThinkingWay(64_000, budget=True)),
        (r"claude-3-5-", _ThinkingWay(8_192)),
        (r"claude-3-|claude-2", _ThinkingWay(4_096)),
        (r"claude-", _ThinkingWay(effort=_EFFORT, off=None)),  # newer than this table
        (r"", _ThinkingWay(budget=True, off="disabled")),  # other models behind this wire
    )
)


@dataclass(frozen=True, slots=True)
class ThinkingPlan:
    """Thinking options of a request. `budget` requires a tool loop to begin with the thinking that led to it."""

    max_tokens: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    budget: bool = False
    off: bool = False


def plan_thinking(model: str, level: Thinking | None, max_tokens: int) -> ThinkingPlan:
    """Return the options for this model and level. `max_tokens` is for the answer alone; thinking gets extra room."""
    name = model.lower().replace(".", "-")
    way = next(way for pattern, way in _WAYS if pattern.search(name))
    maximum = way.most_tokens or 10**9
    if level is None and way.effort:  # these may think by default
        return ThinkingPlan(min(max_tokens + DEFAULT_THINKING_TOKENS, maximum))
    if level is None or not (way.budget or way.effort):
        return ThinkingPlan(min(max_tokens, maximum))
    if level is Thinking.OFF and way.off is not None:
        return ThinkingPlan(min(max_tokens, maximum), {"thinking": {"type": way.off}} if way.off else {}, off=True)
    total = min(max_tokens + THINKING_TOKENS[level], maximum)
    if way.effort:
        thinking = {"type": "adaptive", "display": "summarized"}
        return ThinkingPlan(total, {"thinking": thinking, "output_config": {"effort": way.effort[level]}})
    budget = min(THINKING_TOKENS[level], total - _MIN_BUDGET)
    if budget < _MIN_BUDGET:
        return ThinkingPlan(total)
    return ThinkingPlan(total, {"thinking": {"type": "enabled", "budget_tokens": budget}}, budget=True)


_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_MAX_IMAGE = 5 * 1024 * 1024  # bytes of base64
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EARLIER = "[earlier messages are not shown]"


def encode_request(request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes] | None = None) -> bytes:
    """Return the request body. It is deterministic, and content that changes from turn to turn comes last."""
    plan = plan_thinking(model, request.thinking, request.max_tokens)
    fields, off = plan.fields, plan.off
    said = drop_stale_reasoning(request)
    if plan.budget and _has_foreign_tool_loop(said):  # it would be refused
        fields, off = {}, True
    tools = [_encode_tool(spec) for spec in request.tools]
    system = [{"type": "text", "text": request.system}] if request.system.strip() else []
    messages = _encode_messages(said, images or {}, keep_sealed=not off)
    mark_cache(tools, system, messages)
    body = {
        "model": model,
        "max_tokens": plan.max_tokens,
        "stream": True,
        **fields,
        **({"tools": tools} if tools else {}),
        **({"system": system} if system else {}),
        "messages": messages,
    }
    return dump_json(body)


def _has_foreign_tool_loop(messages: Sequence[ModelMessage]) -> bool:
    """Whether another model, or this one without thinking, began the tool loop that the request continues."""
    asked = None
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            if not message.calls:
                break
            asked = message
        elif isinstance(message, UserMessage) and asked is not None:
            break
    return asked is not None and asked.continuation is None


def _encode_tool(spec: ToolSpec) -> Block:
    schema = normalise(spec, SchemaDialect.ANTHROPIC)
    return {"name": spec.name, "description": spec.description, "input_schema": schema}


def _encode_messages(
    messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes], *, keep_sealed: bool
) -> list[Block]:
    """Return the messages: the user's side is first, the sides alternate, and results come first."""
    made: list[Block] = []
    for message in messages:
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if not made and role == "assistant":
            made.append({"role": "user", "content": [_text(_EARLIER)]})
        if not made or made[-1]["role"] != role:
            made.append({"role": role, "content": []})
        content = made[-1]["content"]
        match message:
            case UserMessage():
                content += _encode_user(message, images)
            case AssistantMessage():
                content += _encode_assistant(message, keep_sealed=keep_sealed)
            case ToolMessage():
                place = sum(block["type"] == "tool_result" for block in content)
                content.insert(place, _encode_result(message))
    for sides in made:
        sides["content"] = sides["content"] or [_text("[empty]")]
    return made


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _encode_user(message: UserMessage, images: Mapping[BlobId, bytes]) -> list[Block]:
    blocks = [_encode_image(image, images[image.blob]) for image in message.images]
    if message.text.strip():  # a blank text is refused
        blocks.append(_text(message.text))
    return blocks


def _encode_image(image: Image, data: bytes) -> Block:
    media_type = detect_image_type(data)
    encoded = base64.b64encode(data).decode()
    if media_type not in _IMAGES:
        return _text(f"[an image that cannot be shown here: {image.media_type}]")
    if len(encoded) > _MAX_IMAGE:
        return _text(f"[an image that is too large to be shown here: {len(data)} bytes]")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def _encode_assistant(message: AssistantMessage, *, keep_sealed: bool) -> list[Block]:
    calls = [
        {"type": "tool_use", "id": _encode_id(call.id), "name": call.name, "input": parse_arguments(call.arguments)}
        for call in message.calls
    ]
    if keep_sealed and message.continuation is not None and message.continuation.wire == "anthropic":
        return restore_blocks(message.continuation.data, message.text, calls)
    return [_text(message.text), *calls] if message.text.strip() else calls


def _encode_result(message: ToolMessage) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _encode_id(message.call)}
    if message.text.strip():
        block["content"] = message.text
    if message.is_error:
        block["is_error"] = True
    return block


def _encode_id(call: CallId) -> str:
    """Return the call's id, or one derived from it if another wire's id is not accepted."""
    return call if _ID.fullmatch(call) else f"toolu_{digest(call)[:24]}"
