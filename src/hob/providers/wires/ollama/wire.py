"""Ollama's own API, which reports more than its OpenAI-compatible one.

Format: https://docs.ollama.com/api
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import dump_json
from hob.core.content.media import Embeddings
from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, CallId
from hob.core.models import (
    AssistantMessage,
    ModelMessage,
    ModelRequest,
    StopReason,
    Thinking,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.tools import ToolSpec
from hob.core.translation.language import translatable
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import with_scheme
from hob.providers.http.client import Client
from hob.providers.http.decoder import make_usage, read_token_count
from hob.providers.http.fields import Object, get_object, get_objects, get_text
from hob.providers.http.past_calls import format_result, parse_arguments
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.media.vectors import Batch, embed_all, parse_vector
from hob.providers.schemas.dialects import SchemaDialect, normalise

# Embeddings from `POST /api/embed`.
#
# Format: https://docs.ollama.com/api/embed


class OllamaEmbedder:
    """Implements `Embedder`. The server cuts texts longer than the model's limit."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return await embed_all(texts, self._embed, self._client.host)

    async def _embed(self, texts: list[str]) -> Batch:
        answer = await self._client.fetch_json(
            lambda base_url: f"{server_root(base_url)}/api/embed", {"model": self._model, "input": texts}
        )
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise self._client.garbage("JSON that holds no vectors")
        tokens = read_token_count(answer, "prompt_eval_count")
        vectors: list[Sequence[float]] = [parse_vector(row, self._client.host) for row in rows]
        return vectors, self._model, Usage(tokens) if tokens else None


# Encoding of requests for `POST /api/chat`.
#
# Format: https://docs.ollama.com/api/chat

CONTEXT_STEP = 4_096
"""Step in tokens by which the context grows: each new size makes the server reload the model."""
# Better too many tokens than too few: what does not fit is cut silently. Code, JSON and numbers have about three ASCII
# characters per token; every other letter has a token per two of its bytes, 1.5 for a Chinese one.
_ASCII_PER_TOKEN = 3
_BYTES_PER_TOKEN = 2
_TOKENS_OF_IMAGE = 2_000


def encode_request(
    request: ModelRequest,
    *,
    model: str,
    images: Mapping[BlobId, bytes] | None = None,
) -> bytes:
    """Return the request body. It is deterministic, and content that changes from turn to turn comes last.

    Ollama silently cuts a conversation that exceeds its context, and its default context is short. So `num_ctx` is
    always set to what this request needs, rounded up.
    """
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += _encode_messages(request.messages, images or {})
    tools = [_encode_tool(spec) for spec in request.tools]
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "options": {
            "num_predict": request.max_output,
            "num_ctx": _context_size(_count_tokens(messages, tools) + request.max_output),
        },
    }
    if request.thinking is not None:
        body["think"] = _think_option(request.thinking, model)
    if tools:
        body["tools"] = tools
    body["messages"] = messages
    return dump_json(body)


def _count_tokens(messages: Iterable[Mapping[str, Any]], tools: object) -> int:
    """Estimate the number of tokens."""
    texts = [json.dumps(tools, ensure_ascii=False)]
    images = 0
    for message in messages:
        texts += message["content"], json.dumps(message.get("tool_calls", ""), ensure_ascii=False)
        images += len(message.get("images", ()))
    text = "".join(texts)
    narrow = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    wide = 0 if narrow == len(text) else len(text.encode("utf-8", "replace")) - narrow
    return narrow // _ASCII_PER_TOKEN + wide // _BYTES_PER_TOKEN + images * _TOKENS_OF_IMAGE


def _context_size(tokens: int) -> int:
    """Return the context size for these tokens: powers of two from 8,192, so that the model is rarely reloaded."""
    room = 2 * CONTEXT_STEP
    while room < tokens:
        room *= 2
    return room


def _think_option(level: Thinking, model: str) -> bool | str:
    """Return the `think` option: most models can only switch thinking on or off; gpt-oss has levels and cannot stop."""
    if "gpt-oss" in model:
        return {Thinking.MEDIUM: "medium", Thinking.HIGH: "high", Thinking.XHIGH: "high"}.get(level, "low")
    return level is not Thinking.OFF


def _encode_tool(spec: ToolSpec) -> dict[str, Any]:
    schema = normalise(spec, SchemaDialect.GRAMMAR)
    return {"type": "function", "function": {"name": spec.name, "description": spec.description, "parameters": schema}}


def _encode_messages(messages: Iterable[ModelMessage], images: Mapping[BlobId, bytes]) -> Iterable[dict[str, Any]]:
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
                        {"function": {"name": call.name, "arguments": parse_arguments(call.arguments)}}
                        for call in calls
                    ]
            case ToolMessage(call):
                # the wire has no ids: results are matched by name and order
                said = {"role": "tool", "tool_name": names.get(call, ""), "content": format_result(message)}
        yield said


# Decoder for `POST /api/chat`: lines of JSON, the last of which is `done`.
#
# Calls arrive whole, without ids. Format: https://docs.ollama.com/api/chat

_STOPS: Mapping[str, StopReason] = {"stop": StopReason.END, "length": StopReason.LENGTH}
_NOT_READY = frozenset({"load", "unload"})


class OllamaDecoder(decoding.Decoder):
    """Decodes one answer."""

    lines_of_json = True

    def _ended(self) -> StopReason | None:
        return None

    def _take_whole(self, answer: Any) -> bool:
        self._take(answer)
        return self.done

    def _take_text(self, chunk: Any) -> bool:
        message = chunk["message"]
        if len(message) != 2 or chunk["done"] or type(text := message["content"]) is not str or not text:
            return False
        self._answer.say(text)
        return True

    def _take_object(self, chunk: dict[str, Any]) -> None:
        if chunk.get("error"):
            self._raise_error(chunk["error"])
        self._take_message(get_object(chunk, "message"))
        if chunk.get("done") is True:
            self._finish(chunk)

    def _take_message(self, message: Object) -> None:
        self._answer.think(get_text(message, "thinking"))
        self._answer.say(get_text(message, "content"))
        for call in get_objects(message, "tool_calls"):
            function = get_object(call, "function")
            if isinstance(function.get("name"), str):
                written = self._answer.new_call(get_text(call, "id"), function["name"])
                self._answer.write(written, function.get("arguments"))

    def _finish(self, chunk: dict[str, Any]) -> None:
        reason = get_text(chunk, "done_reason")
        if reason in _NOT_READY and not self._answer.begun:
            raise ModelError(
                ModelFault.OVERLOAD, translatable("{host} is loading the model; try again in a moment", host=self._host)
            )
        self._answer.model = get_text(chunk, "model") or self._answer.model
        self._answer.usage = read_usage(chunk)
        self._complete(_STOPS.get(reason, StopReason.END))


def read_usage(chunk: Mapping[str, Any]) -> Usage | None:
    """Return the server's token counts, or None if it did not count; tokens still in its cache are not included."""
    return make_usage(read_token_count(chunk, "prompt_eval_count"), read_token_count(chunk, "eval_count"))


class OllamaChat(Wire):
    """Implements `Wire`."""

    name = "ollama"
    decodes = OllamaDecoder
    models_field = "models"

    def chat_url(self, base_url: str, model: str) -> str:
        return f"{server_root(base_url)}/api/chat"

    def models_url(self, base_url: str) -> str:
        return f"{server_root(base_url)}/api/tags"

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def _read_model(self, row: Object) -> ListedModel | None:
        name = get_text(row, "model") or get_text(row, "name")
        return ListedModel(name) if name else None


def server_root(base_url: str) -> str:
    """Return the server's root URL; scheme, `/v1`, `/api` and trailing slash are optional in the input."""
    return with_scheme(base_url).rstrip("/").removesuffix("/v1").removesuffix("/api")
