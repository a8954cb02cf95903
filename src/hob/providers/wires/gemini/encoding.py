"""A request as the body of `:streamGenerateContent`.

Format: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/function-calling
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import json_bytes
from hob.core.ids import BlobId, CallId
from hob.core.models import (
    THINKING_ROOM,
    UNCHOSEN_ROOM,
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
from hob.providers.http.past_calls import read_arguments
from hob.providers.media.image_descriptions import image_type
from hob.providers.schemas.dialects import SchemaDialect, normalise

# How each model is told to think: data by name.
#
# Gemini 2.5 takes a budget of tokens, later ones a level. Tokens of thinking count towards the limit of the answer.
# Facts: https://ai.google.dev/gemini-api/docs/thinking and the servers' own words for a level they do not know.

_MAX_BUDGET = 24_576
_MAX_TOKENS = 65_536


@dataclass(frozen=True, slots=True)
class _Way:
    """How one family thinks: with at least so many tokens where it cannot be turned off, or with one of these levels.

    Neither: it does not think, or is not told how.
    """

    least_budget: int | None = None
    levels: tuple[str, ...] = ()


_FULL = _Way(levels=("minimal", "low", "medium", "high"))
_NO_MINIMAL = _Way(levels=("low", "medium", "high"))
_TWO = _Way(levels=("low", "high"))
# The first that fits counts.
_WAYS: tuple[tuple[re.Pattern[str], _Way], ...] = tuple(
    (re.compile(pattern), way)
    for pattern, way in (
        (r"-(?:image|tts|audio|live|embedding|computer-use)\b", _Way()),
        (r"gemini-2\.5-pro", _Way(least_budget=128)),
        (r"gemini-2\.5-flash", _Way(least_budget=0)),
        (r"gemini-3-pro", _TWO),
        (r"gemini-(?:3-flash|3\.[15]-flash)", _FULL),
        (r"gemini-(?:3\.1-pro|3\.7-flash)", _NO_MINIMAL),
        (r"gemini-(?:[3-9]|\d\d|flash|pro)", _TWO),  # newer than this table, or an alias of the newest
        (r"", _Way()),
    )
)


def plan_thinking(model: str, level: Thinking | None, max_tokens: int) -> dict[str, Any]:
    """The part of `generationConfig` that tells this model to think so.

    `max_tokens` is for the answer alone: thinking gets its room besides.
    """
    way = next(way for pattern, way in _WAYS if pattern.search(model.lower()))
    if way.least_budget is None and not way.levels:
        return {"maxOutputTokens": max_tokens}
    if level is None:  # it thinks as much as it likes
        return {"maxOutputTokens": max(max_tokens, min(max_tokens + UNCHOSEN_ROOM, _MAX_TOKENS))}
    if way.least_budget is not None:
        chosen: dict[str, Any] = {"thinkingBudget": min(max(way.least_budget, THINKING_ROOM[level]), _MAX_BUDGET)}
    else:
        chosen = {"thinkingLevel": _level(level, way.levels)}
    total = max(max_tokens, min(max_tokens + THINKING_ROOM[level], _MAX_TOKENS))
    return {"maxOutputTokens": total, "thinkingConfig": {**chosen, "includeThoughts": level is not Thinking.OFF}}


def signs_calls(model: str) -> bool:
    """Whether the model refuses calls of the running turn that bear no signature."""
    return not re.search(r"gemini-[12]|gemma", model.lower())


def _level(level: Thinking, levels: tuple[str, ...]) -> str:
    """The level, or the next higher one that the model knows."""
    scale = ("minimal", "low", "medium", "high")
    wanted = {Thinking.OFF: "minimal", Thinking.XHIGH: "high"}.get(level, str(level))
    return next(name for name in scale[scale.index(wanted) :] if name in levels)


# Signatures of thoughts, kept as a `Continuation` and sent back on the parts they came with.
#
# The data is a JSON list of an answer's parts in order, each a pair: so many characters of the text (or null for a
# call) and the part's signature (or null). Text and calls are not in it, since the message has them.
#
# https://ai.google.dev/gemini-api/docs/thought-signatures

Part = dict[str, Any]


class GeminiLayout:
    """The order of an answer's parts, as they come."""

    def __init__(self) -> None:
        self.signed = False
        self._parts: list[tuple[int | None, str | None]] = []
        self._told = 0

    def add_text(self, signature: str, text_length: int) -> None:
        """A part with a signature has ended; by now there are `text_length` characters of text."""
        self._parts.append((text_length - self._told, signature))
        self._told = text_length
        self.signed = True

    def add_call(self, signature: str | None, text_length: int) -> None:
        """A call came after `text_length` characters of text."""
        if text_length > self._told:
            self._parts.append((text_length - self._told, None))
            self._told = text_length
        self._parts.append((None, signature))
        self.signed = self.signed or signature is not None

    def data(self, text_length: int) -> str:
        """The whole, at the answer's end."""
        parts = [*self._parts, (text_length - self._told, None)] if text_length > self._told else self._parts
        return json.dumps(parts, separators=(",", ":"))


def unseal(data: str, text: str, calls: Sequence[Part]) -> list[Part]:
    """The answer's parts as they were; of a message that has changed since, only the calls keep their signatures."""
    layout = _read(data)
    signatures = [signature for size, signature in layout if size is None]
    if len(signatures) != len(calls):
        return [*([{"text": text}] if text else []), *calls]
    rest = iter(_signed(call, signature) for call, signature in zip(calls, signatures, strict=True))
    if sum(size or 0 for size, _ in layout) != len(text):
        return [*([{"text": text}] if text else []), *rest]
    parts: list[Part] = []
    place = 0
    for size, signature in layout:
        if size is None:
            parts.append(next(rest))
        else:
            parts.append(_signed({"text": text[place : place + size]}, signature))
            place += size
    return parts


def _signed(part: Part, signature: str | None) -> Part:
    return {**part, "thoughtSignature": signature} if signature else part


def _read(data: str) -> list[tuple[int | None, str | None]]:
    try:
        pairs = json.loads(data)
        return [(size if size is None else int(size), signature and str(signature)) for size, signature in pairs]
    except (ValueError, TypeError, OverflowError, RecursionError):
        return []


WIRE = "gemini"
_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_EARLIER = "[earlier messages are not shown]"
_UNSIGNED = "skip_thought_signature_validator"
"""Stands, by documented custom, for the signature of a call that another model made."""


def encode_request(request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes] | None = None) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last."""
    contents = _contents(request.messages, images or {})
    if signs_calls(model):
        _sign_strange_calls(contents)
    body: dict[str, Any] = {"generationConfig": plan_thinking(model, request.thinking, request.max_tokens)}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_tool(spec) for spec in request.tools]}]
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    body["contents"] = contents
    return json_bytes(body)


def _tool(spec: ToolSpec) -> Part:
    declaration: Part = {"name": spec.name, "description": spec.description}
    schema = normalise(spec, SchemaDialect.GEMINI)
    return {**declaration, "parameters": schema} if schema else declaration


def _contents(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes]) -> list[Part]:
    """The conversation: it begins with the user's side, the two sides take turns, and results come first, in order."""
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
                parts += _user(message, images)
            case AssistantMessage():
                names |= {call.id: call.name for call in message.calls}
                parts += _assistant(message)
            case ToolMessage():
                parts.append(_result(message, names))
    for place, content in enumerate(made):
        content["parts"] = content["parts"] or [{"text": "[empty]"}]
        if place and content["role"] == "user":
            _put_in_order(content["parts"], made[place - 1]["parts"])
    return made


def _put_in_order(parts: list[Part], calls: Iterable[Part]) -> None:
    """Results as they were asked for, before anything else."""
    asked = [part["functionCall"]["id"] for part in calls if "functionCall" in part]
    order = {identity: place for place, identity in enumerate(asked)}
    last = len(order)
    parts.sort(key=lambda part: order.get(part["functionResponse"]["id"], last) if "functionResponse" in part else last)


def _user(message: UserMessage, images: Mapping[BlobId, bytes]) -> list[Part]:
    parts = [_image(image, images[image.blob]) for image in message.images]
    return [*parts, {"text": message.text}] if message.text else parts


def _image(image: Image, data: bytes) -> Part:
    media_type = image_type(data)
    if media_type not in _IMAGES:
        return {"text": f"[an image that cannot be shown here: {image.media_type}]"}
    return {"inlineData": {"mimeType": media_type, "data": base64.b64encode(data).decode()}}


def _assistant(message: AssistantMessage) -> list[Part]:
    calls = [
        {"functionCall": {"id": call.id, "name": call.name, "args": read_arguments(call.arguments)}}
        for call in message.calls
    ]
    if message.continuation is not None and message.continuation.wire == WIRE:
        return unseal(message.continuation.data, message.text, calls)
    return [{"text": message.text}, *calls] if message.text else calls


def _result(message: ToolMessage, names: Mapping[CallId, str]) -> Part:
    name = names.get(message.call)
    if name is None:  # a result of nothing is refused
        return {"text": message.text}
    response = {"error" if message.is_error else "output": message.text}
    return {"functionResponse": {"id": message.call, "name": name, "response": response}}


def _sign_strange_calls(contents: list[Part]) -> None:
    """In the running turn the first call of each step must bear a signature; those of other models have none."""
    for content in reversed(contents):
        if content["role"] == "user" and any("functionResponse" not in part for part in content["parts"]):
            return
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            first["thoughtSignature"] = _UNSIGNED
