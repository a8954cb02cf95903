"""A request as the body of `POST /chat/completions`.

Format: https://platform.openai.com/docs/api-reference/chat/create, and what each `Dialect` says of its server.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from hob.core.ids import BlobId, CallId, digest
from hob.core.models import (
    AssistantMessage,
    Continuation,
    ModelMessage,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.past_calls import result_text, sound_arguments
from hob.providers.media.images import image_type
from hob.providers.schemas import SchemaDialect, normalise
from hob.providers.wires.openai_chat.settings import Dialect

WIRE = "openai_chat"
RETURNED = ("reasoning_details", "reasoning_content")
"""Fields of reasoning that a server may want back."""
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_BETWEEN = "I see."
"""What the assistant says between a tool's result and the user, where the two may not meet."""
_CACHED = {"type": "ephemeral"}


def encode_request(
    request: ModelRequest,
    *,
    model: str,
    dialect: Dialect | None = None,
    images: Mapping[BlobId, bytes] | None = None,
) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last."""
    dialect = dialect or Dialect()
    body: dict[str, Any] = {"model": model, "stream": True}
    if dialect.stream_options:
        body["stream_options"] = {"include_usage": True}
    if dialect.usage_object:
        body["usage"] = {"include": True}
    thinks = dialect.effort or dialect.reasoning_object
    body[dialect.max_tokens] = request.most_output if thinks else request.max_tokens
    if dialect.cache_key and request.cache_key is not None:
        body["prompt_cache_key"] = digest(request.cache_key)[:32]
    if request.thinking is not None:
        body |= _thinking(request.thinking, dialect)
    if request.tools:
        body["tools"] = [_tool(spec, dialect) for spec in request.tools]
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    messages += _messages(request.messages, dialect, images or {})
    if any(model.startswith(name) for name in dialect.cached_system):
        _mark(messages)
    body["messages"] = messages
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # a lone surrogate must not cost the turn


def _thinking(level: Thinking, dialect: Dialect) -> dict[str, Any]:
    """How long to think, where the server can be told."""
    if dialect.reasoning_object:
        return {"reasoning": {"enabled": False} if level is Thinking.OFF else {"effort": level.value}}
    if not dialect.effort:
        return {}
    return {"reasoning_effort": dialect.efforts.get(level, level.value)}


def _tool(spec: ToolSpec, dialect: Dialect) -> dict[str, Any]:
    schema = normalise(spec, SchemaDialect.GRAMMAR if dialect.grammar else SchemaDialect.OPENAI)
    return {"type": "function", "function": {"name": spec.name, "description": spec.description, "parameters": schema}}


def _messages(
    messages: Iterable[ModelMessage], dialect: Dialect, images: Mapping[BlobId, bytes]
) -> Iterable[dict[str, Any]]:
    before: ModelMessage | None = None
    for message in messages:
        if not dialect.user_after_tool and isinstance(before, ToolMessage) and isinstance(message, UserMessage):
            yield {"role": "assistant", "content": _BETWEEN}
        yield _message(message, dialect, images)
        before = message


def _message(message: ModelMessage, dialect: Dialect, images: Mapping[BlobId, bytes]) -> dict[str, Any]:
    match message:
        case UserMessage(text, ()):
            return {"role": "user", "content": text}
        case UserMessage(text, pictures):
            parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
            for picture in pictures:
                data = images[picture.blob]
                kind = image_type(data) or picture.media_type
                url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
                parts.append({"type": "image_url", "image_url": {"url": url}})
            return {"role": "user", "content": parts}
        case AssistantMessage(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantMessage(text, calls):
            said: dict[str, Any] = {"role": "assistant", "content": text or None}
            said["tool_calls"] = [_call(call, dialect) for call in calls]
            if message.continuation is not None and message.continuation.wire == WIRE:
                said |= _continued(message.continuation)
            return said
        case ToolMessage(call):
            return {"role": "tool", "tool_call_id": _id(call, dialect), "content": result_text(message)}


def _continued(continuation: Continuation) -> dict[str, Any]:
    """The fields of reasoning that the server wants back, and no others."""
    try:
        fields = json.loads(continuation.data)
    except (ValueError, RecursionError):
        return {}
    return {name: fields[name] for name in RETURNED if name in fields} if isinstance(fields, dict) else {}


def _call(call: ToolCall, dialect: Dialect) -> dict[str, Any]:
    return {
        "id": _id(call.id, dialect),
        "type": "function",
        "function": {"name": call.name, "arguments": sound_arguments(call.arguments)},
    }


def _id(call: CallId, dialect: Dialect) -> str:
    return digest(call)[:9] if dialect.nine_character_ids and not _NINE.fullmatch(call) else call


def _mark(messages: list[dict[str, Any]]) -> None:
    """Cache up to the system text and up to the newest message of which the next request keeps every byte."""
    users = [message for message in messages if message["role"] == "user"]
    for message in {id(each): each for each in (*messages[:1], *users[-2:])}.values():
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if parts and parts[-1].get("type") == "text" and parts[-1]["text"]:
            parts[-1] = {**parts[-1], "cache_control": _CACHED}
            message["content"] = parts
