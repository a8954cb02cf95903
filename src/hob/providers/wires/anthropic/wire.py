"""Anthropic Messages. Format: https://platform.claude.com/docs/en/api/messages"""

from collections.abc import Collection, Mapping
from typing import Any

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Continuation, ModelRequest, StopReason, Usage
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import with_version
from hob.providers.http.answer import PartialCall, PartialJson
from hob.providers.http.decoder import make_usage, read_token_count
from hob.providers.http.faults import describe
from hob.providers.http.fields import Object, get_object, get_text
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.wires.anthropic.encoding import SEALED, AnthropicLayout, Block, encode_request, plan_thinking

# Decoder for `POST /v1/messages`, streamed or whole.
#
# Complete with `message_stop`, or if the stream ends after a stop reason. Unknown kinds of events, blocks and deltas
# are ignored: new ones appear every year.
#
# Format: https://platform.claude.com/docs/en/build-with-claude/streaming

WIRE = "anthropic"
_STOPS: Mapping[str, StopReason] = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "pause_turn": StopReason.END,
    "tool_use": StopReason.TOOLS,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.FILTER,
}


_COUNTED = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "output_tokens_details",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation",
    }
)


class AnthropicDecoder(decoding.Decoder):
    """Decodes one answer."""

    def __init__(
        self, *, host: str = "the server", salt: str = "", taken: Collection[str] = (), secrets: tuple[str, ...] = ()
    ) -> None:
        super().__init__(host=host, salt=salt, taken=taken, secrets=secrets)
        self._blocks: dict[object, PartialCall | PartialJson] = {}
        self._given: list[tuple[PartialCall, Block]] = []
        self._layout = AnthropicLayout()
        self._said = 0
        self._usage: dict[str, Any] = {}
        self._finish = ""
        self._why = ""

    def _ended(self) -> StopReason | None:
        return _STOPS.get(self._finish, StopReason.END) if self._finish else None

    def _counted(self) -> Usage | None:
        return read_usage(self._usage)

    def _complete(self, stop: StopReason) -> None:
        answer = self._answer
        for call, arguments in self._given:
            if not call.arguments:
                answer.write(call, arguments)
        if self._layout.sealed:
            answer.continuation = Continuation(WIRE, self._layout.data(self._said))
        answer.usage = self._counted()
        if stop is StopReason.FILTER:
            raise ModelError(ModelFault.FILTERED, describe(ModelFault.FILTERED, self._host, self._why, self._secrets))
        if self._finish == "model_context_window_exceeded" and not answer.begun:
            raise ModelError(ModelFault.CONTEXT_OVERFLOW, describe(ModelFault.CONTEXT_OVERFLOW, self._host, ""))
        super()._complete(stop)

    def _take_text(self, chunk: Any) -> bool:
        delta = chunk["delta"]
        text = delta["text"]
        if delta["type"] != "text_delta" or type(text) is not str:
            return False
        if text:
            self._said += len(text)
            self._answer.say(text)
        return True

    def _take_object(self, event: Block) -> None:
        match event:
            case {"type": "content_block_delta", "delta": dict(delta)}:
                self._take_delta(self._blocks.get(_index(event)), delta)
            case {"type": "content_block_start", "content_block": dict(block)}:
                self._begin(_index(event), block)
            case {"type": "message_start", "message": dict(message)}:
                self._take_message(message)
            case {"type": "message_delta"}:
                self._count(event.get("usage"))
                self._take_end(get_object(event, "delta"))
            case {"type": "message_stop"}:
                self._complete(self._ended() or StopReason.END)
            case {"type": "error"} | {"error": dict()}:
                self._raise_error(event.get("error") or event)

    def _take_whole(self, answer: Any) -> bool:
        if not isinstance(answer, dict) or not isinstance(answer.get("content"), list):
            return False
        for index, block in enumerate(answer["content"]):
            if isinstance(block, dict):
                self._begin(index, block)
        self._take_message(answer)
        return True

    def _take_message(self, message: Block) -> None:
        self._answer.model = get_text(message, "model") or self._answer.model
        self._count(message.get("usage"))
        self._take_end(message)

    def _take_end(self, fields: Object) -> None:
        self._finish = get_text(fields, "stop_reason") or self._finish
        self._why = get_text(get_object(fields, "stop_details"), "explanation") or self._why

    def _begin(self, index: object, block: Block) -> None:
        """Start a block, which may already be complete."""
        kind = block.get("type")
        if kind == "text":
            self._take_delta(None, {"type": "text_delta", "text": block.get("text")})
        elif kind in SEALED:
            self._answer.keep_fields(block)
            self._blocks[index] = self._layout.add_sealed(block, self._said)
            self._answer.think(get_text(block, "thinking"))
        elif kind == "tool_use":
            call = self._answer.named_call(block.get("id"), block.get("name"))
            self._layout.add_call(self._said)
            self._blocks[index] = call
            if isinstance(block.get("input"), dict) and block["input"]:
                self._given.append((call, block["input"]))

    def _take_delta(self, block: PartialCall | PartialJson | None, delta: Block) -> None:
        match delta:
            case {"type": "text_delta", "text": str(text)} if text:
                self._said += len(text)
                self._answer.say(text)
            case {"type": "input_json_delta", "partial_json": str(piece)} if isinstance(block, PartialCall):
                self._answer.write(block, piece)
            case {"type": "thinking_delta", "thinking": str(text)} if text:
                self._answer.think(text)
                if isinstance(block, PartialJson):
                    block.grow("thinking", text)
            case {"type": "signature_delta", "signature": str(piece)} if isinstance(block, PartialJson):
                self._answer.keep(len(piece))
                block.grow("signature", piece)

    def _count(self, usage: Any) -> None:
        """Record the usage. The numbers are cumulative; some servers end with zeros."""
        if not isinstance(usage, dict):
            return
        for key in _COUNTED & usage.keys():
            value = usage[key]
            if type(value) is not int or value > read_token_count(self._usage, key):
                self._usage[key] = value if value is not None else self._usage.get(key)


def _index(event: Block) -> object:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the server's token counts, or None if it did not really count."""
    plain, output = read_token_count(usage, "input_tokens"), read_token_count(usage, "output_tokens")
    read = read_token_count(usage, "cache_read_input_tokens")
    for_an_hour = read_token_count(usage, "cache_creation", "ephemeral_1h_input_tokens")
    for_minutes = read_token_count(usage, "cache_creation", "ephemeral_5m_input_tokens")
    written = read_token_count(usage, "cache_creation_input_tokens") or for_minutes + for_an_hour
    return make_usage(
        plain + read + written,
        output,
        cache_read=read,
        cache_write=written,
        cache_write_1h=for_an_hour,
        reasoning=read_token_count(usage, "output_tokens_details", "thinking_tokens"),
    )


_VERSION = "2023-06-01"
"""Supported by all compatible servers. The next one (2026-10-21) forbids what is never sent here."""
_MAX_MODELS = 1_000  # per page; there are some dozens


class AnthropicMessages(Wire):
    """Implements `Wire`."""

    name = WIRE
    decodes = AnthropicDecoder

    def chat_url(self, base_url: str, model: str) -> str:
        return with_version(base_url, "/v1", "/messages") + "/messages"

    def models_url(self, base_url: str) -> str:
        return with_version(base_url, "/v1", "/messages") + f"/models?limit={_MAX_MODELS}"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}

    def max_output(self, model: str, request: ModelRequest) -> int:
        return plan_thinking(model, request.thinking, request.max_tokens).max_tokens

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def _read_model(self, row: Object) -> ListedModel | None:
        name = get_text(row, "id")
        if not name:
            return None
        return ListedModel(
            name,
            context_tokens=read_token_count(row, "max_input_tokens") or None,
            output_tokens=read_token_count(row, "max_tokens") or None,
            images=_has_capability(row, "image_input"),
            thinking=_has_capability(row, "thinking"),
        )


def _has_capability(row: Mapping[str, Any], capability: str) -> bool | None:
    match row.get("capabilities"):
        case {**capabilities} if isinstance(found := capabilities.get(capability), dict):
            return found["supported"] if isinstance(found.get("supported"), bool) else None
    return None
