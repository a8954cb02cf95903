"""Encoding of requests for `POST /responses`.

Format: https://developers.openai.com/api/reference/resources/responses/methods/create
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import dump_json, parse_json
from hob.core.ids import BlobId, CallId, digest
from hob.core.models import AssistantMessage, Image, ModelMessage, ModelRequest, Thinking, ToolMessage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.fields import get_text
from hob.providers.http.past_calls import format_result, normalize_arguments
from hob.providers.media.image_descriptions import detect_image_type
from hob.providers.schemas.dialects import SchemaDialect, normalise

# Thinking options of models, as data by name.
#
# Sources: https://developers.openai.com/api/docs/guides/reasoning and the pages of the models. Models without reasoning
# refuse the option; the others support some of the levels.

_LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh")
_WORDS: Mapping[Thinking, str] = {level: level.value for level in Thinking} | {Thinking.OFF: "none"}

# The first match counts; names are in lower case. None: the model does not reason.
_EFFORTS: tuple[tuple[re.Pattern[str], tuple[str, ...] | None], ...] = tuple(
    (re.compile(pattern), None if levels is None else tuple(levels.split()))
    for pattern, levels in (
        (r"gpt-[34]|chatgpt-|gpt-5[^/]*-chat", None),
        (r"gpt-6-astra|gpt-6\.1-sol", "low medium high xhigh"),
        (r"gpt-6-(?:sol|luna)|gpt-6\.1-terra", "none low medium high xhigh"),
        (r"gpt-5-pro", "high"),
        (r"gpt-5\.\d-pro", "medium high xhigh"),
        (r"gpt-5-codex|gpt-5\.1-codex(?!-max)|codex-mini", "low medium high"),
        (r"gpt-5\.\d-codex", "low medium high xhigh"),
        (r"gpt-5\.1", "none low medium high"),
        (r"gpt-5\.", "none low medium high xhigh"),
        (r"gpt-5", "minimal low medium high"),
        (r"gpt-oss|(?:^|/)o\d", "low medium high"),
        (r"gpt-", "low medium high xhigh"),  # newer than this table
        (r"", "none low medium high"),  # other models behind this wire
    )
)


def find_efforts(model: str) -> tuple[str, ...] | None:
    """Return the levels that the model supports, lowest first; None if it does not reason."""
    name = model.lower()
    return next(levels for pattern, levels in _EFFORTS if pattern.search(name))


def plan_reasoning(model: str, level: Thinking) -> Mapping[str, str]:
    """Return the reasoning options. An unsupported level becomes the next higher one."""
    efforts = find_efforts(model) or _LEVELS
    wanted = _LEVELS.index(_WORDS[level])
    effort = next((each for each in efforts if _LEVELS.index(each) >= wanted), efforts[-1])
    return {"effort": effort} if effort == "none" else {"effort": effort, "summary": "auto"}


# Items of an answer in order, kept as a `Continuation` and sent back unchanged.
#
# The server keeps nothing (`store: false`), so reasoning arrives sealed and must be returned before what followed it.
# The data is a JSON list in the order of the items: a sealed reasoning item as received; `{"said": n}` for a message of
# that many characters of the text; `{"call": true}` for a call. The latter two carry the item's own `id` and `phase`,
# if any. Text and calls are not included, since the message has them.
#
# https://developers.openai.com/api/docs/guides/reasoning#keeping-reasoning-items-in-context

Item = dict[str, Any]

SEPARATOR = "\n\n"
"""Separator between two messages of one answer."""
_OWN = ("id", "phase")


class ResponsesLayout:
    """Order of an answer's items as they arrive."""

    def __init__(self) -> None:
        self.sealed = False
        self._parts: list[Item] = []

    def add_reasoning(self, item: Mapping[str, Any]) -> None:
        """Add a complete reasoning item. One that is not sealed could not be returned."""
        if get_text(item, "encrypted_content"):
            self.sealed = True
            self._parts.append(dict(item))

    def add_message(self, item: Mapping[str, Any], text_length: int) -> None:
        """Add a message that begins after `text_length` characters of text."""
        self._parts.append({"said": text_length, **_own_fields(item)})

    def add_call(self, item: Mapping[str, Any]) -> None:
        """Add a call."""
        self._parts.append({"call": True, **_own_fields(item)})

    def data(self, text_length: int) -> str:
        """Return the JSON at the end of an answer with `text_length` characters of text."""
        parts = []
        for part in reversed(self._parts):
            if "said" in part:
                part, text_length = {**part, "said": text_length - part["said"]}, part["said"]
            parts.append(part)
        return json.dumps(parts[::-1], ensure_ascii=False, separators=(",", ":"))


def _own_fields(item: Mapping[str, Any]) -> Item:
    return {name: item[name] for name in _OWN if isinstance(item.get(name), str) and item[name]}


def restore_items(data: str, text: str, calls: Sequence[Item]) -> list[Item]:
    """Return the original items of the answer. Reasoning that would no longer be in its place is left out."""
    parts = _parse_layout(data)
    if sum("call" in part for part in parts) != len(calls):
        return [*([message_item(text)] if text else []), *calls]
    if sum(part.get("said", 0) for part in parts) != len(text):
        parts = _merge_text(parts, len(text))
    items: list[Item] = []
    rest, place = iter(calls), 0
    for part in parts:
        if "said" in part:
            piece = text[place : place + part["said"]]
            if said := piece.removeprefix(SEPARATOR) if place else piece:
                items.append(message_item(said, part))
            place += len(piece)
        elif "call" in part:
            items.append({**next(rest), **_own_fields(part)})
        else:
            items.append(part)
    while items and items[-1]["type"] == "reasoning":  # it must be followed by what it led to
        items.pop()
    return items


def _merge_text(parts: list[Item], length: int) -> list[Item]:
    """Put the whole text, which has changed since, in place of the first message."""
    others = [part for part in parts if "said" not in part]
    place = next((n for n, part in enumerate(parts) if "said" in part or "call" in part), len(others))
    return [*others[:place], {"said": length}, *others[place:]]


def message_item(text: str, own: Mapping[str, Any] | None = None) -> Item:
    """Return the assistant's text as an item."""
    if not own or "id" not in own:
        return {"type": "message", "role": "assistant", "content": text, **_own_fields(own or {})}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content, **_own_fields(own)}


def _parse_layout(data: str) -> list[Item]:
    parts = parse_json(data)
    return [part for part in parts if isinstance(part, dict) and _is_part(part)] if isinstance(parts, list) else []


def _is_part(part: Item) -> bool:
    match part:
        case {"call": _, "said": _}:
            return False
        case {"call": called}:
            return called is True
        case {"said": said}:
            return type(said) is int and said >= 0
        case _:
            return part.get("type") == "reasoning" and isinstance(part.get("encrypted_content"), str)


WIRE = "openai_responses"
_MIN_OUTPUT = 16
_MAX_ID = 64
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def encode_request(request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes] | None = None) -> bytes:
    """Return the request body. It is deterministic, and content that changes from turn to turn comes last."""
    reasons = find_efforts(model) is not None
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "store": False,
        "max_output_tokens": max(_MIN_OUTPUT, request.max_output if reasons else request.max_tokens),
    }
    if request.cache_key is not None:
        body["prompt_cache_key"] = digest(request.cache_key)[:32]
    if reasons:  # a model without reasoning refuses both
        body["include"] = ["reasoning.encrypted_content"]
        if request.thinking is not None:
            body["reasoning"] = plan_reasoning(model, request.thinking)
    if request.tools:
        body["tools"] = [_encode_tool(spec) for spec in request.tools]
    if request.system:
        body["instructions"] = request.system
    body["input"] = _drop_duplicate_ids(_encode_items(request.messages, images or {}))
    return dump_json(body)


def _encode_tool(spec: ToolSpec) -> Item:
    schema = normalise(spec, SchemaDialect.OPENAI)
    head = {"type": "function", "name": spec.name, "description": spec.description}
    return {**head, "parameters": schema, "strict": False}


def _encode_items(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes]) -> Iterable[Item]:
    for message in messages:
        match message:
            case UserMessage(text, pictures):
                yield {"type": "message", "role": "user", "content": _encode_content(text, pictures, images)}
            case AssistantMessage(text, calls, continuation):
                asked = [_encode_call(call) for call in calls]
                if continuation is not None and continuation.wire == WIRE:
                    yield from restore_items(continuation.data, text, asked)
                else:
                    if text or not asked:
                        yield message_item(text)
                    yield from asked
            case ToolMessage(call):
                yield {"type": "function_call_output", "call_id": _encode_id(call), "output": format_result(message)}


def _encode_content(text: str, pictures: Iterable[Image], images: Mapping[BlobId, bytes]) -> str | list[Item]:
    shown = [_encode_image(picture, images[picture.blob]) for picture in pictures]
    if not shown:
        return text
    return [*([{"type": "input_text", "text": text}] if text else []), *shown]


def _encode_image(picture: Image, data: bytes) -> Item:
    kind = detect_image_type(data)
    if kind not in _IMAGES:
        return {"type": "input_text", "text": f"[an image that cannot be shown here: {picture.media_type}]"}
    url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return {"type": "input_image", "detail": "auto", "image_url": url}


def _encode_call(call: ToolCall) -> Item:
    arguments = normalize_arguments(call.arguments)
    return {"type": "function_call", "call_id": _encode_id(call.id), "name": call.name, "arguments": arguments}


def _encode_id(call: CallId) -> str:
    return call if len(call) <= _MAX_ID else f"call_{digest(call)[:24]}"


def _drop_duplicate_ids(items: Iterable[Item]) -> list[Item]:
    """Remove ids that were used before: duplicates are refused, and some servers always count from zero."""
    seen: set[str] = set()
    found = []
    for item in items:
        name = item.get("id")
        if name in seen:
            item = {key: value for key, value in item.items() if key != "id"}
        elif name is not None:
            seen.add(name)
        found.append(item)
    return found
