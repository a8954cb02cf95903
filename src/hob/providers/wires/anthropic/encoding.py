"""A request as the body of `POST /v1/messages`.

Format: https://platform.claude.com/docs/en/api/messages
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence

from hob.core.ids import BlobId, CallId, digest
from hob.core.models import (
    AssistantMessage,
    Image,
    ModelMessage,
    ModelRequest,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolSpec
from hob.providers.http.past_calls import read_arguments
from hob.providers.http.prefixes import valid_messages
from hob.providers.media.images import image_type
from hob.providers.schemas import SchemaDialect, normalise
from hob.providers.wires.anthropic.caching import Block, mark
from hob.providers.wires.anthropic.sealing import unseal
from hob.providers.wires.anthropic.thinking import plan_thinking

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_MOST_IMAGE = 5 * 1024 * 1024  # bytes of base64
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EARLIER = "[earlier messages are not shown]"


def encode_request(request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes] | None = None) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last."""
    plan = plan_thinking(model, request.thinking, request.max_tokens)
    fields, off = plan.fields, plan.off
    said = valid_messages(request)
    if plan.budget and _began_elsewhere(said):  # it would be refused
        fields, off = {}, True
    tools = [_tool(spec) for spec in request.tools]
    system = [{"type": "text", "text": request.system}] if request.system.strip() else []
    messages = _messages(said, images or {}, keep_sealed=not off)
    mark(tools, system, messages)
    body = {
        "model": model,
        "max_tokens": plan.max_tokens,
        "stream": True,
        **fields,
        **({"tools": tools} if tools else {}),
        **({"system": system} if system else {}),
        "messages": messages,
    }
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # a lone surrogate must not cost the turn


def _began_elsewhere(messages: Sequence[ModelMessage]) -> bool:
    """Whether another model, or this one without thinking, began the tool loop that the request goes on with."""
    asked = None
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            if not message.calls:
                break
            asked = message
        elif isinstance(message, UserMessage) and asked is not None:
            break
    return asked is not None and asked.continuation is None


def _tool(spec: ToolSpec) -> Block:
    schema = normalise(spec, SchemaDialect.ANTHROPIC)
    return {"name": spec.name, "description": spec.description, "input_schema": schema}


def _messages(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes], *, keep_sealed: bool) -> list[Block]:
    """The conversation: it begins with the user's side, the two sides take turns, and results come first."""
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
                content += _user(message, images)
            case AssistantMessage():
                content += _assistant(message, keep_sealed=keep_sealed)
            case ToolMessage():
                place = sum(block["type"] == "tool_result" for block in content)
                content.insert(place, _result(message))
    for sides in made:
        sides["content"] = sides["content"] or [_text("[empty]")]
    return made


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _user(message: UserMessage, images: Mapping[BlobId, bytes]) -> list[Block]:
    blocks = [_image(image, images[image.blob]) for image in message.images]
    if message.text.strip():  # a text without anything in it is refused
        blocks.append(_text(message.text))
    return blocks


def _image(image: Image, data: bytes) -> Block:
    media_type = image_type(data)
    encoded = base64.b64encode(data).decode()
    if media_type not in _IMAGES:
        return _text(f"[an image that cannot be shown here: {image.media_type}]")
    if len(encoded) > _MOST_IMAGE:
        return _text(f"[an image that is too large to be shown here: {len(data)} bytes]")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def _assistant(message: AssistantMessage, *, keep_sealed: bool) -> list[Block]:
    calls = [
        {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": read_arguments(call.arguments)}
        for call in message.calls
    ]
    if keep_sealed and message.continuation is not None and message.continuation.wire == "anthropic":
        return unseal(message.continuation.data, message.text, calls)
    return [_text(message.text), *calls] if message.text.strip() else calls


def _result(message: ToolMessage) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _id(message.call)}
    if message.text.strip():
        block["content"] = message.text
    if message.is_error:
        block["is_error"] = True
    return block


def _id(call: CallId) -> str:
    """The call's id, or one made from it where another wire's is not understood."""
    return call if _ID.fullmatch(call) else f"toolu_{digest(call)[:24]}"
