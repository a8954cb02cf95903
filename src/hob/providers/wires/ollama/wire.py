"""Ollama's own API, which tells more and hides less than its OpenAI-compatible one.

Format: https://docs.ollama.com/api
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import json_bytes
from hob.core.content.media import Embeddings
from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, CallId
from hob.core.models import (
    AssistantMessage,
    ModelMessage,
    ModelRequest,
    Stop,
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
from hob.providers.http.decoder import count_of
from hob.providers.http.fields import Object, object_in, objects_in, text_in
from hob.providers.http.past_calls import read_arguments, result_text
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.media.vectors import Batch, embed_all, numbers_of
from hob.providers.schemas.dialects import SchemaDialect, normalise

# Vectors from `POST /api/embed`.
#
# Format: https://docs.ollama.com/api/embed


class OllamaEmbedder:
    """Implements `Embedder`. A text that is longer than the model reads is cut by the server."""

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
        tokens = count_of(answer, "prompt_eval_count")
        vectors: list[Sequence[float]] = [numbers_of(row, self._client.host) for row in rows]
        return vectors, self._model, Usage(tokens) if tokens else None


# A request as the body of `POST /api/chat`.
#
# Format: https://docs.ollama.com/api/chat

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
) -> bytes:
    """The request's body. The same request gives the same bytes, and what grows from turn to turn stands last.

    Ollama cuts a conversation that is longer than its context without a word, and its default context is short. So
    `num_ctx` is always told: what this request needs, rounded up.
    """
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += _messages(request.messages, images or {})
    tools = [_tool(spec) for spec in request.tools]
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "options": {
            "num_predict": request.max_output,
            "num_ctx": _room(_count_tokens(messages, tools) + request.max_output),
        },
    }
    if request.thinking is not None:
        body["think"] = _think(request.thinking, model)
    if tools:
        body["tools"] = tools
    body["messages"] = messages
    return json_bytes(body)


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


# The answer of `POST /api/chat`: lines of JSON, the last of which is `done`.
#
# Calls come whole, without ids. Format: https://docs.ollama.com/api/chat

_STOPS: Mapping[str, Stop] = {"stop": Stop.END, "length": Stop.LENGTH}
_NOT_READY = frozenset({"load", "unload"})


class OllamaDecoder(decoding.Decoder):
    """Decodes one answer."""

    lines_of_json = True

    def _ended(self) -> Stop | None:
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
        self._take_message(object_in(chunk, "message"))
        if chunk.get("done") is True:
            self._finish(chunk)

    def _take_message(self, message: Object) -> None:
        self._answer.think(text_in(message, "thinking"))
        self._answer.say(text_in(message, "content"))
        for call in objects_in(message, "tool_calls"):
            function = object_in(call, "function")
            if isinstance(function.get("name"), str):
                written = self._answer.new_call(text_in(call, "id"), function["name"])
                self._answer.write(written, function.get("arguments"))

    def _finish(self, chunk: dict[str, Any]) -> None:
        reason = text_in(chunk, "done_reason")
        if reason in _NOT_READY and not self._answer.begun:
            raise ModelError(
                ModelFault.OVERLOAD, translatable("{host} is loading the model; try again in a moment", host=self._host)
            )
        self._answer.model = text_in(chunk, "model") or self._answer.model
        self._answer.usage = read_usage(chunk)
        self._complete(_STOPS.get(reason, Stop.END))


def read_usage(chunk: Mapping[str, Any]) -> Usage | None:
    """Tokens as the server counted them, or None if it did not; what it still held in memory it does not count."""
    prompt, output = count_of(chunk, "prompt_eval_count"), count_of(chunk, "eval_count")
    return Usage(prompt, output) if prompt or output else None


class OllamaChat(Wire):
    """Implements `Wire`."""

    name = "ollama"
    decodes = OllamaDecoder

    def chat_url(self, base_url: str, model: str) -> str:
        return f"{server_root(base_url)}/api/chat"

    def models_url(self, base_url: str) -> str:
        return f"{server_root(base_url)}/api/tags"

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        rows = listing.get("models") if isinstance(listing, dict) else None
        if not isinstance(rows, list):
            return None
        names = (row.get("model") or row.get("name") for row in rows if isinstance(row, dict))
        return tuple(ListedModel(name) for name in names if isinstance(name, str) and name)


def server_root(base_url: str) -> str:
    """Where the server is, for a base URL written with or without scheme, `/v1`, `/api` and trailing slash."""
    return with_scheme(base_url).rstrip("/").removesuffix("/v1").removesuffix("/api")
