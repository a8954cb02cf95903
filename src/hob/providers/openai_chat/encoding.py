"""A request as the body of `POST /chat/completions`.

Format: https://platform.openai.com/docs/api-reference/chat/create
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from hob.core.ids import BlobId, digest
from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.openai_chat.settings import Dialect


def encode_request(
    request: ModelRequest,
    *,
    model: str,
    dialect: Dialect | None = None,
    images: Mapping[BlobId, bytes] | None = None,
) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last."""
    dialect = dialect or Dialect()
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        dialect.max_tokens: request.max_tokens,
    }
    if dialect.cache_key and request.cache_key is not None:
        body["prompt_cache_key"] = digest(request.cache_key)[:32]
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += [_message(message, images or {}) for message in request.messages]
    body["messages"] = messages
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # a lone surrogate must not cost the turn


def _tool(spec: ToolSpec) -> dict[str, Any]:
    schema = dict(spec.schema) or {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": spec.name, "description": spec.description, "parameters": schema}}


def _message(message: ModelMessage, images: Mapping[BlobId, bytes]) -> dict[str, Any]:
    match message:
        case UserMessage(text, ()):
            return {"role": "user", "content": text}
        case UserMessage(text, pictures):
            parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
            for picture in pictures:
                data = base64.b64encode(images[picture.blob]).decode()
                parts.append({"type": "image_url", "image_url": {"url": f"data:{picture.media_type};base64,{data}"}})
            return {"role": "user", "content": parts}
        case AssistantMessage(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantMessage(text, calls):
            return {"role": "assistant", "content": text or None, "tool_calls": [_call(call) for call in calls]}
        case ToolMessage(call, text, is_error):
            # the wire has no flag for it
            said = f"Error: {text}" if is_error and text[:5].lower() != "error" else text
            return {"role": "tool", "tool_call_id": call, "content": said}


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments.strip() or "{}"
    try:
        well = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        well = False
    if not well:  # several servers parse what they are sent back, and fail on what the model once wrote
        arguments = json.dumps({"malformed": call.arguments}, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
