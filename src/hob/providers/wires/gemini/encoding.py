"""Encoding of requests for `:streamGenerateContent`.

Format: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/function-calling
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import dump_json
from hob.core.ids import BlobId, CallId
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
from hob.providers.http.past_calls import parse_arguments
from hob.providers.media.image_descriptions import detect_image_type
from hob.providers.schemas.dialects import SchemaDialect, normalise

# Thinking options of models, as data by name.
#
# Gemini 2.5 takes a budget of tokens, later ones a level. Thinking tokens count towards the output limit. Sources:
# https://ai.google.dev/gemini-api/docs/thinking and the servers' errors for unknown levels.

_MAX_BUDGET = 24_576
_MAX_TOKENS = 65_536


@dataclass(frozen=True, slots=True)
class _ThinkingWay:
    """Thinking options of a model family: a minimum of tokens if it cannot be turned off, or a set of levels.

    If both are empty, it does not think or takes no options.
    """

    least_budget: int | None = None
    levels: tuple[str, ...] = ()


_FULL = _ThinkingWay(levels=("minimal", "low", "medium", "high"))
_NO_MINIMAL = _ThinkingWay(levels=("low", "medium", "high"))
_TWO = _ThinkingWay(levels=("low", "high"))
# The first match counts.
_WAYS: tuple[tuple[re.Pattern[str], _ThinkingWay], ...] = tuple(
    (re.compile(pattern), way)
    for pattern, way in (
        (r"-(?:image|tts|audio|live|embedding|computer-use)\b", _ThinkingWay()),
        (r"gemini-2\.5-pro", _ThinkingWay(least_budget=128)),
        (r"gemini-2\.5-flash", _ThinkingWay(least_budget=0)),
        (r"gemini-3-pro", _TWO),
        (r"gemini-(?:3-flash|3\.[15]-flash)", _FULL),
        (r"gemini-(?:3\.1-pro|3\.7-flash)", _NO_MINIMAL),
        (r"gemini-(?:[3-9]|\d\d|flash|pro)", _TWO),  # newer than this table, or an alias of the newest
        (r"", _ThinkingWay()),
    )
)


def plan_thinking(model: str, level: Thinking | None, max_tokens: int) -> dict[str, Any]:
    """Return the part of `generationConfig` that sets the thinking level for this model.

    `max_tokens` is for the answer alone; thinking gets extra room.
    """
    way = next(way for pattern, way in _WAYS if pattern.search(model.lower()))
    if way.least_budget is None and not way.levels:
        return {"maxOutputTokens": max_tokens}
    if level is None:  # it thinks as much as it likes
        return {"maxOutputTokens": max(max_tokens, min(max_tokens + DEFAULT_THINKING_TOKENS, _MAX_TOKENS))}
    if way.least_budget is not None:
        chosen: dict[str, Any] = {"thinkingBudget": min(max(way.least_budget, THINKING_TOKENS[level]), _MAX_BUDGET)}
    else:
        chosen = {"thinkingLevel": _choose_level(level, way.levels)}
    total = max(max_tokens, min(max_tokens + THINKING_TOKENS[level], _MAX_TOKENS))
    return {"maxOutputTokens": total, "thinkingConfig": {**chosen, "includeThoughts": level is not Thinking.OFF}}


def signs_calls(model: str) -> bool:
    """Whether the model refuses calls of the running turn without a signature."""
    return not re.search(r"gemini-[12]|gemma", model.lower())


def _choose_level(level: Thinking, levels: tuple[str, ...]) -> str:
    """Return the level, or the next higher one that the model knows."""
    scale = ("minimal", "low", "medium", "high")
    wanted = {Thinking.OFF: "minimal", Thinking.XHIGH: "high"}.get(level, str(level))
    return next(name for name in scale[scale.index(wanted) :] if name in levels)


# Thought signatures, kept as a `Continuation` and sent back with their parts.
#
# The data is a JSON list of an answer's parts in order, each a pair: a number of characters of the text (or null for a
# call) and the part's signature (or null). Text and calls are not included, since the message has them.
#
# https://ai.google.dev/gemini-api/docs/thought-signatures

Part = dict[str, Any]


class GeminiLayout:
    """Order of an answer's parts as they arrive."""

    def __init__(self) -> None:
        self.signed = False
        self._parts: list[tuple[int | None, str | None]] = []
        self._told = 0

    def add_text(self, signature: str, text_length: int) -> None:
        """Add a text part with a signature, ending at `text_length` characters of text."""
        self._parts.append((text_length - self._told, signature))
        self._told = text_length
        self.signed = True

    def add_call(self, signature: str | None, text_length: int) -> None:
        """Add a call after `text_length` characters of text."""
        if text_length > self._told:
            self._parts.append((text_length - self._told, None))
            self._told = text_length
        self._parts.append((None, signature))
        self.signed = self.signed or signature is not None

    def data(self, text_length: int) -> str:
        """Return the JSON at the end of the answer."""
        parts = [*self._parts, (text_length - self._told, None)] if text_length > self._told else self._parts
        return json.dumps(parts, separators=(",", ":"))


def restore_parts(data: str, text: str, calls: Sequence[Part]) -> list[Part]:
    """Return the original parts of the answer; if the message has changed since, only calls keep their signatures."""
    layout = _parse_layout(data)
    signatures = [signature for size, signature in layout if size is None]
    if len(signatures) != len(calls):
        return [*([{"text": text}] if text else []), *calls]
    rest = iter(_with_signature(call, signature) for call, signature in zip(calls, signatures, strict=True))
    if sum(size or 0 for size, _ in layout) != len(text):
        return [*([{"text": text}] if text else []), *rest]
    parts: list[Part] = []
    place = 0
    for size, signature in layout:
        if size is None:
            parts.append(next(rest))
        else:
            parts.append(_with_signature({"text": text[place : place + size]}, signature))
            place += size
    return parts


def _with_signature(part: Part, signature: str | None) -> Part:
    return {**part, "thoughtSignature": signature} if signature else part


def _parse_layout(data: str) -> list[tuple[int | None, str | None]]:
    try:
        pairs = json.loads(data)
        return [(size if size is None else int(size), signature and str(signature)) for size, signature in pairs]
    except (ValueError, TypeError, OverflowError, RecursionError):
        return []


WIRE = "gemini"
_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_EARLIER = "[earlier messages are not shown]"
_PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator"
"""Documented placeholder for the signature of another model's call."""


def encode_request(request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes] | None = None) -> bytes:
    """Return the request body. It is deterministic, and content that changes from turn to turn comes last."""
    contents = _encode_contents(request.messages, images or {})
    if signs_calls(model):
        _sign_foreign_calls(contents)
    body: dict[str, Any] = {"generationConfig": plan_thinking(model, request.thinking, request.max_tokens)}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_encode_tool(spec) for spec in request.tools]}]
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    body["contents"] = contents
    return dump_json(body)


def _encode_tool(spec: ToolSpec) -> Part:
    declaration: Part = {"name": spec.name, "description": spec.description}
    schema = normalise(spec, SchemaDialect.GEMINI)
    return {**declaration, "parameters": schema} if schema else declaration


def _encode_contents(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes]) -> list[Part]:
    """Return the contents: the user's side is first, the sides alternate, and results come first, in order."""
    made: list[Part] = []
    names: dict[CallId, str] = {}
    for message in messages:
        role = "model" if isinstance(message, AssistantMessage) else "user"
        if not made and role == "model":
            made.append({"role": "user", "parts": [{"text": _EARLIER}]})
        if not made or made[-1]["role"] != role:
            made.append({"role": role, "parts": []})
        parts = made[-1]["parts"]
        match message:
            case UserMessage():
                parts += _encode_user(message, images)
            case AssistantMessage():
                names |= {call.id: call.name for call in message.calls}
                parts += _encode_assistant(message)
            case ToolMessage():
                parts.append(_encode_result(message, names))
    for place, content in enumerate(made):
        content["parts"] = content["parts"] or [{"text": "[empty]"}]
        if place and content["role"] == "user":
            _sort_results(content["parts"], made[place - 1]["parts"])
    return made


def _sort_results(parts: list[Part], calls: Iterable[Part]) -> None:
    """Sort results into the order of their calls, before anything else."""
    asked = [part["functionCall"]["id"] for part in calls if "functionCall" in part]
    order = {identity: place for place, identity in enumerate(asked)}
    last = len(order)
    parts.sort(key=lambda part: order.get(part["functionResponse"]["id"], last) if "functionResponse" in part else last)


def _encode_user(message: UserMessage, images: Mapping[BlobId, bytes]) -> list[Part]:
    parts = [_encode_image(image, images[image.blob]) for image in message.images]
    return [*parts, {"text": message.text}] if message.text else parts


def _encode_image(image: Image, data: bytes) -> Part:
    media_type = detect_image_type(data)
    if media_type not in _IMAGES:
        return {"text": f"[an image that cannot be shown here: {image.media_type}]"}
    return {"inlineData": {"mimeType": media_type, "data": base64.b64encode(data).decode()}}


def _encode_assistant(message: AssistantMessage) -> list[Part]:
    calls = [
        {"functionCall": {"id": call.id, "name": call.name, "args": parse_arguments(call.arguments)}}
        for call in message.calls
    ]
    if message.continuation is not None and message.continuation.wire == WIRE:
        return restore_parts(message.continuation.data, message.text, calls)
    return [{"text": message.text}, *calls] if message.text else calls


def _encode_result(message: ToolMessage, names: Mapping[CallId, str]) -> Part:
    name = names.get(message.call)
    if name is None:  # a result without a call is refused
        return {"text": message.text}
    response = {"error" if message.is_error else "output": message.text}
    return {"functionResponse": {"id": message.call, "name": name, "response": response}}


def _sign_foreign_calls(contents: list[Part]) -> None:
    """Sign the first call of each step in the running turn; other models' calls have no signature."""
    for content in reversed(contents):
        if content["role"] == "user" and any("functionResponse" not in part for part in content["parts"]):
            return
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            first["thoughtSignature"] = _PLACEHOLDER_SIGNATURE
