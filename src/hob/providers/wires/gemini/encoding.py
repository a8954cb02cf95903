"""A request as the body of `:streamGenerateContent`.

Format: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/function-calling
"""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hob.core.ids import BlobId, CallId
from hob.core.models import AssistantMessage, Image, ModelMessage, ModelRequest, ToolMessage, UserMessage
from hob.core.tools import ToolSpec
from hob.providers.http.past_calls import read_arguments
from hob.providers.media.images import image_type
from hob.providers.schemas import SchemaDialect, normalise
from hob.providers.wires.gemini.sealing import Part, unseal
from hob.providers.wires.gemini.thinking import plan_thinking, signs_calls

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
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # a lone surrogate must not cost the turn


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
