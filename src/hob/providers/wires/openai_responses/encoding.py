"""A request as the body of `POST /responses`.

Format: https://developers.openai.com/api/reference/resources/responses/methods/create
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import json_bytes, json_value
from hob.core.ids import BlobId, CallId, digest
from hob.core.models import AssistantMessage, Image, ModelMessage, ModelRequest, Thinking, ToolMessage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.fields import text_in
from hob.providers.http.past_calls import result_text, sound_arguments
from hob.providers.media.image_descriptions import image_type
from hob.providers.schemas.dialects import SchemaDialect, normalise

# How each model is told to think: data by name.
#
# Facts: https://developers.openai.com/api/docs/guides/reasoning and the models' own pages there. Models that do not
# reason refuse to be asked for it; the others each know some of the levels.

_LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh")
_WORDS: Mapping[Thinking, str] = {level: level.value for level in Thinking} | {Thinking.OFF: "none"}

# The first that fits counts; names are in lower case. None: the model does not reason.
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
        (r"", "none low medium high"),  # others who speak this wire
    )
)


def efforts_of(model: str) -> tuple[str, ...] | None:
    """The levels the model knows, least first; None if it does not reason."""
    name = model.lower()
    return next(levels for pattern, levels in _EFFORTS if pattern.search(name))


def plan_reasoning(model: str, level: Thinking) -> Mapping[str, str]:
    """What the request says about reasoning. A level that the model lacks becomes the next higher one it has."""
    efforts = efforts_of(model) or _LEVELS
    wanted = _LEVELS.index(_WORDS[level])
    effort = next((each for each in efforts if _LEVELS.index(each) >= wanted), efforts[-1])
    return {"effort": effort} if effort == "none" else {"effort": effort, "summary": "auto"}


# An answer's items in their order, kept as a `Continuation` and sent back as they were.
#
# The server keeps nothing (`store: false`), so reasoning comes sealed and has to return before what followed it. The
# data is a JSON list in the order of the items: a sealed reasoning item as it came; `{"said": n}` for a message of
# that many characters of the text; `{"call": true}` for a call. The latter two carry the item's own `id` and `phase`,
# where it had them. Text and calls are not in it, since the message has them.
#
# https://developers.openai.com/api/docs/guides/reasoning#keeping-reasoning-items-in-context

Item = dict[str, Any]

BETWEEN = "\n\n"
"""What stands between two messages of one answer."""
_OWN = ("id", "phase")


class ResponsesLayout:
    """The order of an answer's items, as they come."""

    def __init__(self) -> None:
        self.sealed = False
        self._parts: list[Item] = []

    def add_reasoning(self, item: Mapping[str, Any]) -> None:
        """A reasoning item is whole. One that is not sealed could not be returned."""
        if text_in(item, "encrypted_content"):
            self.sealed = True
            self._parts.append(dict(item))

    def add_message(self, item: Mapping[str, Any], text_length: int) -> None:
        """A message begins after `text_length` characters of text."""
        self._parts.append({"said": text_length, **_own(item)})

    def add_call(self, item: Mapping[str, Any]) -> None:
        """A call begins."""
        self._parts.append({"call": True, **_own(item)})

    def data(self, text_length: int) -> str:
        """The whole, at the end of an answer with `text_length` characters of text."""
        parts = []
        for part in reversed(self._parts):
            if "said" in part:
                part, text_length = {**part, "said": text_length - part["said"]}, part["said"]
            parts.append(part)
        return json.dumps(parts[::-1], ensure_ascii=False, separators=(",", ":"))


def _own(item: Mapping[str, Any]) -> Item:
    return {name: item[name] for name in _OWN if isinstance(item.get(name), str) and item[name]}


def replay(data: str, text: str, calls: Sequence[Item]) -> list[Item]:
    """The answer's items as they were. Reasoning that would not stand where it stood is left out."""
    parts = _read(data)
    if sum("call" in part for part in parts) != len(calls):
        return [*([message_item(text)] if text else []), *calls]
    if sum(part.get("said", 0) for part in parts) != len(text):
        parts = _retold(parts, len(text))
    items: list[Item] = []
    rest, place = iter(calls), 0
    for part in parts:
        if "said" in part:
            piece = text[place : place + part["said"]]
            if said := piece.removeprefix(BETWEEN) if place else piece:
                items.append(message_item(said, part))
            place += len(piece)
        elif "call" in part:
            items.append({**next(rest), **_own(part)})
        else:
            items.append(part)
    while items and items[-1]["type"] == "reasoning":  # it has to be followed by what it led to
        items.pop()
    return items


def _retold(parts: list[Item], length: int) -> list[Item]:
    """The text was changed since: all of it stands where the first message stood."""
    others = [part for part in parts if "said" not in part]
    place = next((n for n, part in enumerate(parts) if "said" in part or "call" in part), len(others))
    return [*others[:place], {"said": length}, *others[place:]]


def message_item(text: str, own: Mapping[str, Any] | None = None) -> Item:
    """What the assistant said, as an item."""
    if not own or "id" not in own:
        return {"type": "message", "role": "assistant", "content": text, **_own(own or {})}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content, **_own(own)}


def _read(data: str) -> list[Item]:
    parts = json_value(data)
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
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last."""
    reasons = efforts_of(model) is not None
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "store": False,
        "max_output_tokens": max(_MIN_OUTPUT, request.max_output if reasons else request.max_tokens),
    }
    if request.cache_key is not None:
        body["prompt_cache_key"] = digest(request.cache_key)[:32]
    if reasons:  # a model that does not refuses both
        body["include"] = ["reasoning.encrypted_content"]
        if request.thinking is not None:
            body["reasoning"] = plan_reasoning(model, request.thinking)
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    if request.system:
        body["instructions"] = request.system
    body["input"] = _named_once(_items(request.messages, images or {}))
    return json_bytes(body)


def _tool(spec: ToolSpec) -> Item:
    schema = normalise(spec, SchemaDialect.OPENAI)
    head = {"type": "function", "name": spec.name, "description": spec.description}
    return {**head, "parameters": schema, "strict": False}


def _items(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes]) -> Iterable[Item]:
    for message in messages:
        match message:
            case UserMessage(text, pictures):
                yield {"type": "message", "role": "user", "content": _content(text, pictures, images)}
            case AssistantMessage(text, calls, continuation):
                asked = [_call(call) for call in calls]
                if continuation is not None and continuation.wire == WIRE:
                    yield from replay(continuation.data, text, asked)
                else:
                    if text or not asked:
                        yield message_item(text)
                    yield from asked
            case ToolMessage(call):
                yield {"type": "function_call_output", "call_id": _id(call), "output": result_text(message)}


def _content(text: str, pictures: Iterable[Image], images: Mapping[BlobId, bytes]) -> str | list[Item]:
    shown = [_image(picture, images[picture.blob]) for picture in pictures]
    if not shown:
        return text
    return [*([{"type": "input_text", "text": text}] if text else []), *shown]


def _image(picture: Image, data: bytes) -> Item:
    kind = image_type(data)
    if kind not in _IMAGES:
        return {"type": "input_text", "text": f"[an image that cannot be shown here: {picture.media_type}]"}
    url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return {"type": "input_image", "detail": "auto", "image_url": url}


def _call(call: ToolCall) -> Item:
    arguments = sound_arguments(call.arguments)
    return {"type": "function_call", "call_id": _id(call.id), "name": call.name, "arguments": arguments}


def _id(call: CallId) -> str:
    return call if len(call) <= _MAX_ID else f"call_{digest(call)[:24]}"


def _named_once(items: Iterable[Item]) -> list[Item]:
    """The items without ids that were used before: two of one name are refused, and some servers count from zero."""
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
