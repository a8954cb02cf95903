"""A request as the body of `POST /api/chat`.

Format: https://docs.ollama.com/api/chat
"""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hob.core.ids import BlobId, CallId
from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, Thinking, ToolMessage, UserMessage
from hob.core.tools import ToolSpec
from hob.providers.http.past_calls import read_arguments, result_text
from hob.providers.schemas import SchemaDialect, normalise

CONTEXT_STEP = 4_096
"""Tokens by which the context grows: each new size makes the server load the model again."""
# Rather too many tokens than too few: what does not fit is cut without a word. Code, JSON and numbers have about three
# ASCII characters a token; any other letter has a token for two of its bytes, 1.5 for a Chinese one.
_ASCII_PER_TOKEN = 3
_BYTES_PER_TOKEN = 2
_TOKENS_OF_IMAGE = 2_000


def encode_request(
    request: ModelRequest,
    *,
    model: str,
    images: Mapping[BlobId, bytes] | None = None,
    context_tokens: int | None = None,
) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last.

    Ollama cuts a conversation that is longer than its context without a word, and its default context is short. So
    `num_ctx` is always told: `context_tokens`, or what this request needs, rounded up.
    """
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += _messages(request.messages, images or {})
    tools = [_tool(spec) for spec in request.tools]
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "options": {
            "num_predict": request.most_output,
            "num_ctx": context_tokens or _room(_count_tokens(messages, tools) + request.most_output),
        },
    }
    if request.thinking is not None:
        body["think"] = _think(request.thinking, model)
    if tools:
        body["tools"] = tools
    body["messages"] = messages
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # a lone surrogate must not cost the turn


def _count_tokens(messages: Iterable[Mapping[str, Any]], tools: object) -> int:
    """About how many tokens they are."""
    texts = [json.dumps(tools, ensure_ascii=False)]
    images = 0
    for message in messages:
        texts += message["content"], json.dumps(message.get("tool_calls", ""), ensure_ascii=False)
        images += len(message.get("images", ()))
    text = "".join(texts)
    narrow = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    wide = 0 if narrow == len(text) else len(text.encode("utf-8", "replace")) - narrow
    return narrow // _ASCII_PER_TOKEN + wide // _BYTES_PER_TOKEN + images * _TOKENS_OF_IMAGE


def _room(tokens: int) -> int:
    """The context that these tokens need, in few sizes so that the model stays loaded: powers of two from 8,192 on."""
    room = 2 * CONTEXT_STEP
    while room < tokens:
        room *= 2
    return room


def _think(level: Thinking, model: str) -> bool | str:
    """Most models can only be told to think or not; gpt-oss has levels and cannot be silenced."""
    if "gpt-oss" in model:
        return {Thinking.MEDIUM: "medium", Thinking.HIGH: "high", Thinking.XHIGH: "high"}.get(level, "low")
    return level is not Thinking.OFF


def _tool(spec: ToolSpec) -> dict[str, Any]:
    schema = normalise(spec, SchemaDialect.GRAMMAR)
    return {"type": "function", "function": {"name": spec.name, "description": spec.description, "parameters": schema}}


def _messages(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes]) -> Iterable[dict[str, Any]]:
    names: dict[CallId, str] = {}
    for message in messages:
        match message:
            case UserMessage(text, pictures):
                said: dict[str, Any] = {"role": "user", "content": text}
                if pictures:
                    said["images"] = [base64.b64encode(images[picture.blob]).decode() for picture in pictures]
            case AssistantMessage(text, calls):
                said = {"role": "assistant", "content": text}
                names.update((call.id, call.name) for call in calls)
                if calls:
                    said["tool_calls"] = [
                        {"function": {"name": call.name, "arguments": read_arguments(call.arguments)}} for call in calls
                    ]
            case ToolMessage(call):
                # the wire has no ids: results are told by name and order
                said = {"role": "tool", "tool_name": names.get(call, ""), "content": result_text(message)}
        yield said
