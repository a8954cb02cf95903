"""A request as the body of `POST /responses`.

Format: https://developers.openai.com/api/reference/resources/responses/methods/create
"""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hob.core.ids import BlobId, CallId, digest
from hob.core.models import AssistantMessage, Image, ModelMessage, ModelRequest, ToolMessage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.past_calls import result_text, sound_arguments
from hob.providers.media.images import image_type
from hob.providers.schemas import SchemaDialect, normalise
from hob.providers.wires.openai_responses.replaying import Item, message_item, replay
from hob.providers.wires.openai_responses.thinking import efforts_of, plan_reasoning

WIRE = "openai_responses"
_LEAST_OUTPUT = 16
_MOST_ID = 64
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def encode_request(request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes] | None = None) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last."""
    reasons = efforts_of(model) is not None
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "store": False,
        "max_output_tokens": max(_LEAST_OUTPUT, request.most_output if reasons else request.max_tokens),
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
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # a lone surrogate must not cost the turn


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
    return call if len(call) <= _MOST_ID else f"call_{digest(call)[:24]}"


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
