"""OpenAI chat completions, the wire that most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat
"""

import base64
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hob.core.content.json_text import dump_json, parse_json_object
from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, CallId, digest
from hob.core.models import (
    AssistantMessage,
    Continuation,
    ModelMessage,
    ModelRequest,
    StopReason,
    Thinking,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.answer import MAX_CALLS, PartialCall, PartialJson
from hob.providers.http.decoder import MAX_TOKENS, make_usage, read_token_count
from hob.providers.http.fields import Object, get_object, get_objects, get_text
from hob.providers.http.past_calls import format_result, normalize_arguments
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.media.image_descriptions import detect_image_type
from hob.providers.schemas.dialects import SchemaDialect, normalise
from hob.providers.wires.openai_chat.settings import Dialect

# Encoding of requests for `POST /chat/completions`.
#
# Format: https://platform.openai.com/docs/api-reference/chat/create, and each server's `Dialect`.

WIRE = "openai_chat"
RETURNED_FIELDS = ("reasoning_details", "reasoning_content")
"""Reasoning fields that a server may want back."""
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_SEPARATOR = "I see."
"""Assistant message between a tool's result and a user message, where the two may not be adjacent."""
_CACHED = {"type": "ephemeral"}


def encode_request(
    request: ModelRequest,
    *,
    model: str,
    dialect: Dialect | None = None,
    images: Mapping[BlobId, bytes] | None = None,
) -> bytes:
    """Return the request body. It is deterministic, and content that changes from turn to turn comes last."""
    dialect = dialect or Dialect()
    body: dict[str, Any] = {"model": model, "stream": True}
    if dialect.stream_options:
        body["stream_options"] = {"include_usage": True}
    if dialect.usage_object:
        body["usage"] = {"include": True}
    body[dialect.max_tokens] = max_output_tokens(request, dialect)
    if dialect.cache_key and request.cache_key is not None:
        body["prompt_cache_key"] = digest(request.cache_key)[:32]
    if request.thinking is not None:
        body |= _thinking_options(request.thinking, dialect)
    if request.tools:
        body["tools"] = [_encode_tool(spec, dialect) for spec in request.tools]
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    messages += _encode_messages(request.messages, dialect, images or {})
    if any(model.startswith(name) for name in dialect.cached_system):
        _mark_cache(messages)
    body["messages"] = messages
    return dump_json(body)


def max_output_tokens(request: ModelRequest, dialect: Dialect) -> int:
    """Return the output limit, including thinking only if the server has thinking levels."""
    return request.max_output if dialect.effort or dialect.reasoning_object else request.max_tokens


def _thinking_options(level: Thinking, dialect: Dialect) -> dict[str, Any]:
    """Return the thinking options, if the server has them."""
    if dialect.reasoning_object:
        return {"reasoning": {"enabled": False} if level is Thinking.OFF else {"effort": level.value}}
    if not dialect.effort:
        return {}
    return {"reasoning_effort": dialect.efforts.get(level, level.value)}


def _encode_tool(spec: ToolSpec, dialect: Dialect) -> dict[str, Any]:
    schema = normalise(spec, SchemaDialect.GRAMMAR if dialect.grammar else SchemaDialect.OPENAI)
    return {"type": "function", "function": {"name": spec.name, "description": spec.description, "parameters": schema}}


def _encode_messages(
    messages: Iterable[ModelMessage], dialect: Dialect, images: Mapping[BlobId, bytes]
) -> Iterable[dict[str, Any]]:
    before: ModelMessage | None = None
    for message in messages:
        if not dialect.user_after_tool and isinstance(before, ToolMessage) and isinstance(message, UserMessage):
            yield {"role": "assistant", "content": _SEPARATOR}
        yield _encode_message(message, dialect, images)
        before = message


def _encode_message(message: ModelMessage, dialect: Dialect, images: Mapping[BlobId, bytes]) -> dict[str, Any]:
    match message:
        case UserMessage(text, ()):
            return {"role": "user", "content": text}
        case UserMessage(text, pictures):
            parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
            for picture in pictures:
                data = images[picture.blob]
                kind = detect_image_type(data) or picture.media_type
                url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
                parts.append({"type": "image_url", "image_url": {"url": url}})
            return {"role": "user", "content": parts}
        case AssistantMessage(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantMessage(text, calls):
            said: dict[str, Any] = {"role": "assistant", "content": text or None}
            said["tool_calls"] = [_encode_call(call, dialect) for call in calls]
            if message.continuation is not None and message.continuation.wire == WIRE:
                said |= _returned_fields(message.continuation)
            return said
        case ToolMessage(call):
            return {"role": "tool", "tool_call_id": _encode_id(call, dialect), "content": format_result(message)}


def _returned_fields(continuation: Continuation) -> dict[str, Any]:
    """Return the reasoning fields that the server wants back, and no others."""
    fields = parse_json_object(continuation.data) or {}
    return {name: fields[name] for name in RETURNED_FIELDS if name in fields}


def _encode_call(call: ToolCall, dialect: Dialect) -> dict[str, Any]:
    return {
        "id": _encode_id(call.id, dialect),
        "type": "function",
        "function": {"name": call.name, "arguments": normalize_arguments(call.arguments)},
    }


def _encode_id(call: CallId, dialect: Dialect) -> str:
    return digest(call)[:9] if dialect.nine_character_ids and not _NINE.fullmatch(call) else call


def _mark_cache(messages: list[dict[str, Any]]) -> None:
    """Mark the cache after the system text and after the newest message that the next request keeps unchanged."""
    users = [message for message in messages if message["role"] == "user"]
    for message in {id(each): each for each in (*messages[:1], *users[-2:])}.values():
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if parts and parts[-1].get("type") == "text" and parts[-1]["text"]:
            parts[-1] = {**parts[-1], "cache_control": _CACHED}
            message["content"] = parts


# Decoder for `POST /chat/completions`, streamed or whole.
#
# Complete if a finish reason or `[DONE]` was seen. Servers omit ids and indexes of calls, count them from zero every
# time, and send arguments whole or in pieces: all forms are accepted.
#
# Format: https://platform.openai.com/docs/api-reference/chat/streaming

_STOPS: Mapping[str, StopReason] = {
    "stop": StopReason.END,
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "tool_calls": StopReason.TOOLS,
    "function_call": StopReason.TOOLS,
    "content_filter": StopReason.FILTER,
}
_GROWING = ("text", "summary", "data")


class ChatDecoder(decoding.Decoder):
    """Decodes one answer."""

    def __init__(
        self,
        *,
        host: str = "the server",
        salt: str = "",
        taken: Collection[str] = (),
        secrets: tuple[str, ...] = (),
        returns_reasoning: bool = False,
    ) -> None:
        super().__init__(host=host, salt=salt, taken=taken, secrets=secrets)
        self._returns_reasoning = returns_reasoning
        self._details: list[PartialJson] = []
        self._slots: dict[int, PartialCall] = {}
        self._finish = ""

    def _ended(self) -> StopReason | None:
        if self._finish == "error":
            raise ModelError(
                ModelFault.OVERLOAD,
                translatable("{host} broke off the answer because of an error of its own", host=self._host),
            )
        return _STOPS.get(self._finish, StopReason.END) if self._finish else None

    def _complete(self, stop: StopReason) -> None:
        if self._details:
            self._continue_with({"reasoning_details": [detail.whole() for detail in self._details]})
        elif self._returns_reasoning and self._answer.reasoning:
            self._continue_with({"reasoning_content": self._answer.reasoning})
        super()._complete(stop)

    def _continue_with(self, fields: Mapping[str, Any]) -> None:
        if self._answer.calls:  # without calls the turn ends, and it is not needed again
            self._answer.continuation = Continuation(WIRE, json.dumps(fields, ensure_ascii=False))

    def _take_whole(self, answer: Any) -> bool:
        self._take(answer)
        return isinstance(answer, dict) and isinstance(answer.get("choices"), list)

    def _take_text(self, chunk: Any) -> bool:
        choice = chunk["choices"][0]
        delta = choice["delta"]
        text = delta["content"]
        plain = len(delta) == 1 and type(text) is str and text and not choice["index"]
        if not plain or choice.get("finish_reason") or chunk.get("usage"):
            return False
        self._answer.say(text)
        return True

    def _take_object(self, chunk: dict[str, Any]) -> None:
        if chunk.get("error"):
            self._raise_error(chunk["error"])
        self._answer.model = get_text(chunk, "model") or self._answer.model
        if isinstance(usage := chunk.get("usage"), dict):
            self._answer.usage = read_usage(usage)
            self._answer.cost = read_cost(usage)
        for choice in get_objects(chunk, "choices")[:1]:
            self._take_choice(choice)

    def _take_choice(self, choice: Object) -> None:
        if choice.get("index") not in (0, None):
            return
        if choice.get("error"):
            self._raise_error(choice["error"])
        if isinstance(delta := choice.get("delta"), dict):
            self._take_delta(delta)
        elif not self._answer.begun:  # some servers end by repeating the whole message
            self._take_delta(get_object(choice, "message"))
        self._finish = get_text(choice, "finish_reason") or self._finish

    def _take_delta(self, delta: Object) -> None:
        self._answer.think(get_text(delta, "reasoning_content") or get_text(delta, "reasoning"))
        for detail in get_objects(delta, "reasoning_details"):
            self._take_detail(detail)
        self._answer.say(get_text(delta, "content"))
        for part in get_objects(delta, "content"):
            self._answer.say(get_text(part, "text"))
            for thought in get_objects(part, "thinking"):
                self._answer.think(get_text(thought, "text"))
        self._answer.say(get_text(delta, "refusal"))  # the model's own words in a separate field
        for fragment in get_objects(delta, "tool_calls"):
            self._take_fragment(fragment)
        if legacy := get_object(delta, "function_call"):
            self._take_fragment({"index": 0, "function": legacy})

    def _take_detail(self, detail: Object) -> None:
        """Add a piece of signed or sealed reasoning (OpenRouter); pieces of one index and type form one detail."""
        self._answer.keep_fields(detail)
        key = (detail.get("index"), detail.get("type"))
        for known in self._details[-1:]:
            if key == (known.get("index"), known.get("type")):
                for name, value in detail.items():
                    if name in _GROWING and isinstance(value, str):
                        known.grow(name, value)
                    elif value is not None:
                        known.put(name, value)
                return
        if len(self._details) < MAX_CALLS:
            self._details.append(PartialJson(detail))

    def _take_fragment(self, fragment: Object) -> None:
        function = get_object(fragment, "function")
        name = get_text(function, "name")
        call = self._call_of(fragment.get("index"), get_text(fragment, "id"), name)
        self._answer.name(call, name)
        self._answer.write(call, function.get("arguments"))
        self._answer.announce_call(call)

    def _call_of(self, index: object, identity: str, name: str) -> PartialCall:
        """Return the call of a fragment. Servers omit the index or the id, or use one index for all."""
        if isinstance(index, int):
            call = self._slots.get(index)
            if call is None or (identity and call.id and identity != call.id and name):
                call = self._slots[index] = self._answer.new_call()
        else:
            call = next((known for known in self._answer.calls if identity and known.id == identity), None)
            if call is None:
                fresh = identity or (name and (not self._answer.calls or self._answer.calls[-1].arguments))
                call = self._answer.new_call() if fresh or not self._answer.calls else self._answer.calls[-1]
        self._answer.identify(call, identity)
        return call


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the server's token counts, or None if it did not really count."""
    read = read_token_count(usage, "prompt_tokens_details", "cached_tokens")
    return make_usage(
        read_token_count(usage, "prompt_tokens"),
        read_token_count(usage, "completion_tokens"),
        cache_read=read or read_token_count(usage, "prompt_cache_hit_tokens"),
        cache_write=read_token_count(usage, "prompt_tokens_details", "cache_write_tokens"),
        reasoning=read_token_count(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def read_cost(usage: Mapping[str, Any]) -> int | None:
    """Return the cost in micro-dollars, rounded up, if the server reports it (OpenRouter).

    With the owner's own key at the upstream provider (`is_byok`), that provider's charge is added.
    https://openrouter.ai/docs/use-cases/usage-accounting
    """
    charged = _parse_dollars(usage.get("cost"))
    if charged is not None and usage.get("is_byok") is True:
        behind = _parse_dollars(get_object(usage, "cost_details").get("upstream_inference_cost"))
        charged = None if behind is None else charged + behind
    # binary fractions: 0.000123 * 1e6 is slightly more than 123
    return None if charged is None else math.ceil(round(charged * 1_000_000, 3))


def _parse_dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value < 1e6 else None


class ChatCompletions(Wire):
    """Implements `Wire` in one server's dialect."""

    name = WIRE
    decodes = ChatDecoder

    def __init__(self, dialect: Dialect | None = None) -> None:
        self._dialect = dialect or Dialect()

    def chat_url(self, base_url: str, model: str) -> str:
        return endpoint_url(base_url, "/chat/completions")

    def models_url(self, base_url: str) -> str:
        return endpoint_url(base_url, "/models")

    def max_output(self, model: str, request: ModelRequest) -> int:
        return max_output_tokens(request, self._dialect)

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, dialect=self._dialect, images=images)

    def decoder(self, *, host: str, salt: str, taken: Collection[str], secrets: tuple[str, ...]) -> ChatDecoder:
        return ChatDecoder(
            host=host,
            salt=salt,
            taken=taken,
            secrets=secrets,
            returns_reasoning=self._dialect.returns_reasoning,
        )

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        rows = listing.get("data", listing.get("models")) if isinstance(listing, dict) else listing
        return super().read_models({"data": rows})

    def _read_model(self, row: Object) -> ListedModel | None:
        """Return the model of a row. OpenRouter, Groq, Mistral and vLLM report more than the name, each in its way."""
        name = get_text(row, "id") or get_text(row, "name")
        if not name:
            return None
        known, prices = row.get("supported_parameters"), get_object(row, "pricing")
        inputs = get_object(row, "architecture").get("input_modalities")
        return ListedModel(
            name,
            context_tokens=_first_count(row, "context_length", "context_window", "max_context_length", "max_model_len"),
            output_tokens=_first_count(get_object(row, "top_provider") or row, "max_completion_tokens"),
            images="image" in inputs if isinstance(inputs, list) else None,
            tools="tools" in known if isinstance(known, list) else None,
            thinking="reasoning" in known if isinstance(known, list) else None,
            input_price=_per_million(prices.get("prompt")),
            output_price=_per_million(prices.get("completion")),
        )


def _first_count(row: Mapping[str, Any], *names: str) -> int | None:
    values = (row.get(name) for name in names)
    return next((value for value in values if type(value) is int and 0 < value <= MAX_TOKENS), None)


def _per_million(price: object) -> float | None:
    """Convert dollars per token, as text, to dollars per million tokens."""
    try:
        dollars = float(price) if isinstance(price, (str, int, float)) else -1.0
    except (ValueError, OverflowError):
        return None
    return dollars * 1_000_000 if 0 <= dollars < 1 else None
