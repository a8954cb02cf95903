"""OpenAI Responses, which keeps a model's reasoning between the calls of a turn.

Format: https://developers.openai.com/api/reference/resources/responses
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Continuation, ModelRequest, StopReason, Usage
from hob.core.translation.language import translatable
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.answer import PartialCall
from hob.providers.http.decoder import make_usage, read_token_count
from hob.providers.http.faults import describe
from hob.providers.http.fields import Object, get_object, get_objects, get_text
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.encoding import (
    SEPARATOR,
    WIRE,
    Item,
    ResponsesLayout,
    encode_request,
    find_efforts,
)

# Decoder for `POST /responses`, streamed or whole.
#
# Complete with `response.completed` or `response.incomplete`. Unknown kinds of events and items are ignored: new ones
# appear every year.
#
# Format: https://developers.openai.com/api/reference/resources/responses/streaming-events

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_ROOM_OF_ITEM = 256  # characters counted for a remembered item, however short it is
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")

# Error codes of failed responses for which a retry would not help.
_FAILURES = (
    (re.compile(r"_policy|usage polic|flagged"), ModelFault.FILTERED),
    (
        re.compile(r"^(?:image_|invalid_(?:prompt|image|base64)|unsupported_image|empty_image|failed_to_download)"),
        ModelFault.BAD_REQUEST,
    ),
)


class ResponsesDecoder(decoding.Decoder):
    """Decodes one answer."""

    def __init__(
        self, *, host: str = "the server", salt: str = "", taken: Collection[str] = (), secrets: tuple[str, ...] = ()
    ) -> None:
        super().__init__(host=host, salt=salt, taken=taken, secrets=secrets)
        self._calls: dict[object, PartialCall] = {}
        self._begun: dict[object, int] = {}
        self._layout = ResponsesLayout()
        self._said = 0
        self._gap = False
        self._thought_gap = False

    def _ended(self) -> StopReason | None:
        return None  # the end is announced, or there was none

    def _complete(self, stop: StopReason) -> None:
        if self._layout.sealed and self._answer.calls:  # without calls the turn ends, and it is not needed again
            self._answer.continuation = Continuation(WIRE, self._layout.data(self._said))
        super()._complete(stop)

    def _take_text(self, chunk: Any) -> bool:
        if chunk["type"] != "response.output_text.delta" or type(text := chunk["delta"]) is not str:
            return False
        self._say(text)
        return True

    def _take_object(self, event: Item) -> None:
        match event:
            case {"type": "response.function_call_arguments.delta", "delta": str(piece)}:
                if call := self._calls.get(_item_key(event)):
                    self._answer.write(call, piece)
            case {"type": "response.function_call_arguments.done", "arguments": str(arguments)}:
                if (call := self._calls.get(_item_key(event))) and not call.arguments:
                    self._answer.write(call, arguments)
            case {"type": str(kind), "delta": str(text)} if kind in _THOUGHTS:
                self._think(text)
            case {"type": "response.refusal.delta", "delta": str(text)}:
                self._say(text)  # the model's own words in a separate field
            case {"type": "response.output_item.added", "item": dict(item)}:
                self._begin(_item_key(event, item), item)
            case {"type": "response.output_item.done", "item": dict(item)}:
                self._end(_item_key(event, item), item)
            case {"type": "response.reasoning_summary_part.added"}:
                self._thought_gap = self._answer.thought > 0
            case {"type": str(kind), "response": dict(response)}:
                self._take_response(kind, response)
            case {"type": "error"} | {"error": dict() | str()}:
                self._raise_error(event.get("error") or event)

    def _take_whole(self, answer: Any) -> bool:
        if not isinstance(answer, dict) or not isinstance(answer.get("output"), list):
            return False
        status = answer.get("status")
        self._take_response(f"response.{status if isinstance(status, str) else 'completed'}", answer)
        return self.done

    # -- items

    def _begin(self, place: object, item: Object) -> None:
        if place in self._begun:
            return
        self._answer.keep(_ROOM_OF_ITEM)
        self._begun[place] = self._said
        match item.get("type"):
            case "message":
                self._gap = self._said > 0
                self._layout.add_message(item, self._said)
            case "reasoning":
                self._thought_gap = self._answer.thought > 0
                self._begun[place] = self._answer.thought
            case "function_call":
                self._calls[place] = self._answer.named_call(item.get("call_id"), item.get("name"))
                self._layout.add_call(item)

    def _end(self, place: object, item: Object) -> None:
        """Complete an item; servers that sent no earlier events are read here."""
        self._begin(place, item)
        match item.get("type"):
            case "message" if self._said == self._begun[place]:
                for text in _get_texts(item, "content"):
                    self._say(text)
            case "reasoning":
                if self._answer.thought == self._begun[place]:
                    for text in _get_texts(item, "summary") or _get_texts(item, "content"):
                        self._think(text)
                        self._thought_gap = True
                self._answer.keep_fields(item)
                self._layout.add_reasoning(item)
            case "function_call":
                call = self._calls.get(place)
                if call is not None and not call.arguments:
                    self._answer.write(call, item.get("arguments"))

    def _say(self, text: str) -> None:
        if not text:
            return
        if self._gap:
            self._gap = False
            text = SEPARATOR + text
        self._said += len(text)
        self._answer.say(text)

    def _think(self, text: str) -> None:
        if not text:
            return
        if self._thought_gap:
            self._thought_gap = False
            text = SEPARATOR + text
        self._answer.think(text)

    # -- the end

    def _take_response(self, kind: str, response: Item) -> None:
        self._answer.model = get_text(response, "model") or self._answer.model
        if kind not in _ENDS:
            return
        usage = response.get("usage")
        self._answer.usage = read_usage(usage) if isinstance(usage, dict) else None
        if kind in ("response.failed", "response.cancelled"):
            self._raise_failed(response.get("error"))
        self._decode_whole(response)
        self._complete(StopReason.END if kind == "response.completed" else _stop_reason(response))

    def _decode_whole(self, response: Item) -> None:
        """Decode a response sent as a whole at the end."""
        if not self._begun and not self._answer.begun:
            for place, item in enumerate(get_objects(response, "output")):
                self._end(place, item)

    def _raise_failed(self, error: Any) -> NoReturn:
        if not isinstance(error, dict):
            raise ModelError(
                ModelFault.OVERLOAD,
                translatable("{host} broke off the answer because of an error of its own", host=self._host),
            )
        said = f"{get_text(error, 'code')} {get_text(error, 'message')}".lower()
        told = str(error.get("message") or error.get("code"))
        for pattern, fault in _FAILURES:
            if pattern.search(said):
                raise ModelError(fault, describe(fault, self._host, told, self._secrets))
        self._raise_error(error)


def _item_key(event: Mapping[str, Any], item: Mapping[str, Any] | None = None) -> object:
    """Return what identifies an item: its index, or its id if the server does not number items."""
    index = event.get("output_index")
    if type(index) is int:
        return index
    name = event.get("item_id") or (item or {}).get("id")
    return name if isinstance(name, str) else ""


def _get_texts(item: Mapping[str, Any], part: str) -> list[str]:
    found = (each.get("text") or each.get("refusal") for each in get_objects(item, part))
    return [text for text in found if isinstance(text, str) and text]


def _stop_reason(response: Mapping[str, Any]) -> StopReason:
    reason = get_object(response, "incomplete_details").get("reason")
    return StopReason.FILTER if reason == "content_filter" else StopReason.LENGTH


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the server's token counts, or None if it did not really count."""
    return make_usage(
        read_token_count(usage, "input_tokens"),
        read_token_count(usage, "output_tokens"),
        cache_read=read_token_count(usage, "input_tokens_details", "cached_tokens"),
        cache_write=read_token_count(usage, "input_tokens_details", "cache_write_tokens"),
        reasoning=read_token_count(usage, "output_tokens_details", "reasoning_tokens"),
    )


_CHAT = ChatCompletions()


class Responses(Wire):
    """Implements `Wire`. URLs, key and model list are those of chat completions."""

    name = WIRE
    decodes = ResponsesDecoder

    def chat_url(self, base_url: str, model: str) -> str:
        return endpoint_url(base_url.strip().rstrip("/").removesuffix("/responses"), "/responses")

    def models_url(self, base_url: str) -> str:
        return endpoint_url(base_url.strip().rstrip("/").removesuffix("/responses"), "/models")

    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_tokens if find_efforts(model) is None else request.max_output

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        return _CHAT.read_models(listing)
