"""OpenAI Responses, which keeps a model's reasoning between the calls of one turn.

Format: https://developers.openai.com/api/reference/resources/responses
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Continuation, ModelRequest, Stop, Usage
from hob.core.translation.language import translatable
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import endpoint
from hob.providers.http.answer import PartialCall
from hob.providers.http.decoder import count_of
from hob.providers.http.faults import describe
from hob.providers.http.fields import Object, object_in, objects_in, text_in
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.encoding import (
    BETWEEN,
    WIRE,
    Item,
    ResponsesLayout,
    efforts_of,
    encode_request,
)

# The answer of `POST /responses`, streamed or whole.
#
# Complete with `response.completed` or `response.incomplete`. Kinds of events and items that are not known mean
# nothing: more of them come every year.
#
# Format: https://developers.openai.com/api/reference/resources/responses/streaming-events

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_ROOM_OF_ITEM = 256  # characters that stand for what is remembered of an item, however little it says
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")

# Codes of a response that failed which say that asking once more would not help.
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

    def _ended(self) -> Stop | None:
        return None  # the end is told, or there was none

    def _complete(self, stop: Stop) -> None:
        if self._layout.sealed and self._answer.calls:  # without calls the turn ends, and no one wants it back
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
                if call := self._calls.get(_place(event)):
                    self._answer.write(call, piece)
            case {"type": "response.function_call_arguments.done", "arguments": str(arguments)}:
                if (call := self._calls.get(_place(event))) and not call.arguments:
                    self._answer.write(call, arguments)
            case {"type": str(kind), "delta": str(text)} if kind in _THOUGHTS:
                self._think(text)
            case {"type": "response.refusal.delta", "delta": str(text)}:
                self._say(text)  # the model's own words, in a place of their own
            case {"type": "response.output_item.added", "item": dict(item)}:
                self._begin(_place(event, item), item)
            case {"type": "response.output_item.done", "item": dict(item)}:
                self._end(_place(event, item), item)
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
        """An item is whole; servers that told nothing of it before are heard now."""
        self._begin(place, item)
        match item.get("type"):
            case "message" if self._said == self._begun[place]:
                for text in _texts(item, "content"):
                    self._say(text)
            case "reasoning":
                if self._answer.thought == self._begun[place]:
                    for text in _texts(item, "summary") or _texts(item, "content"):
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
            text = BETWEEN + text
        self._said += len(text)
        self._answer.say(text)

    def _think(self, text: str) -> None:
        if not text:
            return
        if self._thought_gap:
            self._thought_gap = False
            text = BETWEEN + text
        self._answer.think(text)

    # -- the end

    def _take_response(self, kind: str, response: Item) -> None:
        self._answer.model = text_in(response, "model") or self._answer.model
        if kind not in _ENDS:
            return
        usage = response.get("usage")
        self._answer.usage = read_usage(usage) if isinstance(usage, dict) else None
        if kind in ("response.failed", "response.cancelled"):
            self._raise_failed(response.get("error"))
        self._decode_whole(response)
        self._complete(Stop.END if kind == "response.completed" else _why(response))

    def _decode_whole(self, response: Item) -> None:
        """Servers that tell all at once, at the end."""
        if not self._begun and not self._answer.begun:
            for place, item in enumerate(objects_in(response, "output")):
                self._end(place, item)

    def _raise_failed(self, error: Any) -> NoReturn:
        if not isinstance(error, dict):
            raise ModelError(
                ModelFault.OVERLOAD,
                translatable("{host} broke off the answer because of an error of its own", host=self._host),
            )
        said = f"{text_in(error, 'code')} {text_in(error, 'message')}".lower()
        told = str(error.get("message") or error.get("code"))
        for pattern, fault in _FAILURES:
            if pattern.search(said):
                raise ModelError(fault, describe(fault, self._host, told, self._secrets))
        self._raise_error(error)


def _place(event: Mapping[str, Any], item: Mapping[str, Any] | None = None) -> object:
    """What tells one item from another: its place, or its id where a server does not count."""
    index = event.get("output_index")
    if type(index) is int:
        return index
    name = event.get("item_id") or (item or {}).get("id")
    return name if isinstance(name, str) else ""


def _texts(item: Mapping[str, Any], part: str) -> list[str]:
    found = (each.get("text") or each.get("refusal") for each in objects_in(item, part))
    return [text for text in found if isinstance(text, str) and text]


def _why(response: Mapping[str, Any]) -> Stop:
    reason = object_in(response, "incomplete_details").get("reason")
    return Stop.FILTER if reason == "content_filter" else Stop.LENGTH


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Tokens as the server counted them, or None if it did not really count."""
    prompt, output = count_of(usage, "input_tokens"), count_of(usage, "output_tokens")
    if not prompt and not output:
        return None
    read = min(count_of(usage, "input_tokens_details", "cached_tokens"), prompt)
    return Usage(
        input=prompt,
        output=output,
        cache_read=read,
        cache_write=min(count_of(usage, "input_tokens_details", "cache_write_tokens"), prompt - read),
        reasoning=min(count_of(usage, "output_tokens_details", "reasoning_tokens"), output),
    )


_CHAT = ChatCompletions()


class Responses(Wire):
    """Implements `Wire`. Addresses, key and list of models are those of chat completions."""

    name = WIRE
    decodes = ResponsesDecoder

    def chat_url(self, base_url: str, model: str) -> str:
        return endpoint(base_url.strip().rstrip("/").removesuffix("/responses"), "/responses")

    def models_url(self, base_url: str) -> str:
        return endpoint(base_url.strip().rstrip("/").removesuffix("/responses"), "/models")

    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_tokens if efforts_of(model) is None else request.max_output

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        return _CHAT.read_models(listing)
