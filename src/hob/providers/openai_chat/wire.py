"""Chat completions as bytes, without a socket: `encode_request` one way, `Decoder` the other.

Theory of operation. A server answers with server-sent events, or with one JSON object although a stream was asked
for, or with something else entirely (a web page, a proxy's words). The first byte that is no white space decides which.
Bytes may be cut anywhere, so a line is looked at only when its end has come; only then can UTF-8 be decoded. What is
told does not depend on where the bytes were cut, save that neighbouring pieces of text that came together are told as
one.

An answer is complete when a finish reason or `[DONE]` was seen. Anything that ends earlier was cut, however politely
the connection was closed: a half answer must never pass for an answer.

Formats: https://platform.openai.com/docs/api-reference/chat, https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import base64
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, CallId, digest
from hob.core.models import (
    AssistantMessage,
    Beat,
    CallStarted,
    ModelEvent,
    ModelMessage,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    Stop,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.faults import describe, read_stream_error
from hob.providers.openai_chat.settings import Dialect

MOST_LINE = 8 * 1024 * 1024
"""Bytes that one line, or one whole JSON answer, may have."""
_MOST_CALLS = 256
_BEAT = Beat()
_STOPS: Mapping[str, Stop] = {
    "stop": Stop.END,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS,
    "content_filter": Stop.FILTER,
}


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


@dataclass(slots=True)
class _Call:
    """A call that is being written, and whether it was told."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    told: bool = False


class Decoder:
    """Bytes of an answer in, `ModelEvent`s out.

    `taken` are the ids of calls that the conversation holds already: an id must name one call only, so a server that
    counts from zero every time gets fresh ones; so do missing and repeated ids. They are made from `salt`.
    """

    def __init__(
        self, *, host: str = "the server", salt: str = "", taken: Collection[str] = (), secret: str = ""
    ) -> None:
        self.done = False
        """The whole reply was given; nothing more is expected."""
        self._host = host
        self._salt = salt
        self._taken = taken
        self._secret = secret
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._feed = self._feed_first
        self._after_cr = False
        self._data: list[str] = []
        self._events: list[ModelEvent] = []
        self._pending: list[str] = []
        self._pending_reasoning = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._slots: dict[int, _Call] = {}
        self._finish = ""
        self._usage: Usage | None = None
        self._model = ""
        self._strange = False
        self._any = False
        self._broken = False

    def feed(self, data: bytes) -> list[ModelEvent]:
        """What these bytes mean. Bytes that mean nothing by themselves give a `Beat`. Raises ModelError."""
        if not data or self.done:
            return []
        self._feed(data)
        self._flush()
        events = self._events
        if not events:
            return [_BEAT]
        self._events = []
        return events

    def finish(self, *, broken: bool = False) -> list[ModelEvent]:
        """The answer's bytes have ended, by a broken connection or as HTTP would have it.

        Gives the reply if all of it had come; raises ModelError otherwise.
        """
        if self.done:
            return []
        self._broken = broken
        if self._feed == self._feed_json:
            self._whole_json()
        elif self._feed == self._feed_lines:
            self._last_line()
        if not self.done:
            if not self._finish:
                self._raise_cut()
            self._complete()
        self._flush()
        events, self._events = self._events, []
        return events

    # -- which kind of answer

    def _feed_first(self, data: bytes) -> None:
        start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start:
            return
        if start[:1] in b"{[":
            self._feed = self._feed_json
        elif start[:1] == b"<":
            self._raise_garbage("a web page")
        else:
            self._feed = self._feed_lines
        self._feed(start)

    def _feed_json(self, data: bytes) -> None:
        self._keep(data)

    def _feed_lines(self, data: bytes) -> None:
        if self._after_cr or b"\r" in data:
            data = self._only_newlines(data)
        end = data.rfind(b"\n")
        if end < 0:
            self._keep(data)
            return
        block = data[:end]
        if self._rest:
            self._rest.append(block)
            block = b"".join(self._rest)
            self._rest.clear()
            self._rest_size = 0
        if end + 1 < len(data):
            self._keep(data[end + 1 :])
        take = self._take_line
        for line in block.split(b"\n"):
            take(line)
            if self.done:
                return

    def _keep(self, data: bytes) -> None:
        self._rest.append(data)
        self._rest_size += len(data)
        if self._rest_size > MOST_LINE:
            self._raise_garbage("a line without end")

    def _only_newlines(self, data: bytes) -> bytes:
        # CR LF, LF and CR all end a line; CR LF may be cut in two
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    # -- lines

    def _take_line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._any = True
            if self._data:
                self._split_data()
            self._data.append(line[6 if line[5:6] == b" " else 5 :].decode("utf-8", "replace"))
        elif not line:
            if self._data:
                self._take_data()
        elif not line.startswith((b":", b"event:", b"id:", b"retry:")) and line != b"data":
            self._strange = True

    def _split_data(self) -> None:
        # Some servers forget the empty line between two events; and no whole object is the first line of a longer one.
        try:
            json.loads("\n".join(self._data))
        except (ValueError, RecursionError):
            return
        self._take_data()

    def _take_data(self) -> None:
        data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
        self._data.clear()
        try:
            chunk = _load(data)
        except (ValueError, RecursionError):
            self._take_words(data)
            return
        self._take_chunk(chunk)

    def _take_words(self, data: str) -> None:
        words = data.strip()
        if words == "[DONE]":
            self._complete()
        elif words:
            self._raise_garbage(f"a broken line: {words[:80]}")

    def _last_line(self) -> None:
        line = b"".join(self._rest)
        self._rest.clear()
        if line:
            self._take_line(line)
        if self._data:
            try:
                self._take_data()
            except ModelError as error:
                if error.fault is not ModelFault.GARBAGE:
                    raise
                self._raise_cut()

    def _whole_json(self) -> None:
        try:
            answer = json.loads(b"".join(self._rest).decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self._raise_cut()
        self._any = True
        self._take_chunk(answer)
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            self._raise_garbage("JSON that is no answer")
        self._complete()

    # -- chunks

    def _take_chunk(self, chunk: Any) -> None:
        try:  # the fast path: one more piece of text and nothing else
            choice = chunk["choices"][0]
            delta = choice["delta"]
            text = delta["content"]
            if (
                len(delta) == 1
                and type(text) is str
                and text
                and not choice["index"]
                and not choice.get("finish_reason")
                and not chunk.get("usage")
            ):
                self._say(text)
                return
        except (KeyError, IndexError, TypeError, AttributeError):
            pass
        if not isinstance(chunk, dict):
            self._raise_garbage("data that is no object")
        self._take_object(chunk)

    def _take_object(self, chunk: dict[str, Any]) -> None:
        error = chunk.get("error")
        if error:
            raise read_stream_error(error, host=self._host, secret=self._secret)
        if isinstance(chunk.get("model"), str) and chunk["model"]:
            self._model = chunk["model"]
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = read_usage(usage)
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take_choice(choices[0])

    def _take_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("index") not in (0, None):
            return
        error = choice.get("error")
        if error:
            raise read_stream_error(error, host=self._host, secret=self._secret)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
            if self._text or self._calls:  # some servers end with the whole message once more
                delta = None
        if isinstance(delta, dict):
            self._take_delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish = reason

    def _take_delta(self, delta: dict[str, Any]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and thought:
            self._think(thought)
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._say(content)
        elif isinstance(content, list):
            self._take_parts(content)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._say(refusal)  # the model's own words, in a place of their own
        fragments = delta.get("tool_calls")
        if isinstance(fragments, list):
            for fragment in fragments:
                if isinstance(fragment, dict):
                    self._take_fragment(fragment)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._take_fragment({"index": 0, "function": legacy})

    def _take_parts(self, parts: list[Any]) -> None:
        for part in parts:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("text"), str):
                self._say(part["text"])
            elif isinstance(part.get("thinking"), list):
                for thought in part["thinking"]:
                    if isinstance(thought, dict) and isinstance(thought.get("text"), str):
                        self._think(thought["text"])

    def _take_fragment(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = {}
        name = function.get("name")
        name = name if isinstance(name, str) else ""
        identity = fragment.get("id")
        call = self._call_of(fragment.get("index"), identity if isinstance(identity, str) else "", name)
        if name and name != call.name:
            call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments:
            call.arguments.append(arguments)
        if call.name and not call.told:
            call.told = True
            self._flush()
            self._events.append(CallStarted(call.name))

    def _call_of(self, index: object, identity: str, name: str) -> _Call:
        """The call that a fragment belongs to. Servers leave out the index, the id, or use one index for all."""
        if isinstance(index, int):
            call = self._slots.get(index)
            if call is None or (identity and call.id and identity != call.id and name):
                call = self._slots[index] = self._new_call()
        else:
            call = next((known for known in self._calls if identity and known.id == identity), None)
            if call is None:
                fresh = identity or (name and (not self._calls or self._calls[-1].arguments))
                call = self._new_call() if fresh or not self._calls else self._calls[-1]
        call.id = call.id or identity
        return call

    def _new_call(self) -> _Call:
        if len(self._calls) >= _MOST_CALLS:
            self._raise_garbage("more calls than anybody could mean")
        call = _Call()
        self._calls.append(call)
        return call

    # -- telling

    def _say(self, text: str) -> None:
        if self._pending_reasoning:
            self._flush()
            self._pending_reasoning = False
        self._pending.append(text)

    def _think(self, text: str) -> None:
        if not self._pending_reasoning:
            self._flush()
            self._pending_reasoning = True
        self._pending.append(text)

    def _flush(self) -> None:
        if not self._pending:
            return
        text = self._pending[0] if len(self._pending) == 1 else "".join(self._pending)
        self._pending.clear()
        if self._pending_reasoning:
            self._reasoning.append(text)
            self._events.append(ReasoningDelta(text))
        else:
            self._text.append(text)
            self._events.append(TextDelta(text))

    def _complete(self) -> None:
        self._flush()
        text = "".join(self._text)
        calls = self._finished_calls()
        stop = _STOPS.get(self._finish, Stop.END)
        if stop is Stop.FILTER:
            raise ModelError(ModelFault.FILTERED, describe(ModelFault.FILTERED, self._host, "", self._secret))
        if self._finish == "error":
            raise ModelError(ModelFault.OVERLOAD, f"{self._host} broke off the answer because of an error of its own")
        if not text.strip() and not calls:
            self._raise_empty(stop)
        if stop is not Stop.LENGTH:
            stop = Stop.TOOLS if calls else Stop.END
        self.done = True
        reasoning = "".join(self._reasoning)
        self._events.append(ModelReply(text, calls, reasoning, stop, self._usage, self._model))

    def _finished_calls(self) -> tuple[ToolCall, ...]:
        seen = set(self._taken)
        finished = []
        for call in self._calls:
            if not call.name and not call.arguments:
                continue
            identity = call.id
            while not identity or identity in seen:
                # nine letters and digits are what the strictest server takes
                identity = digest(f"{self._salt}.{len(seen)}.{identity}")[:9]
            seen.add(identity)
            finished.append(ToolCall(CallId(identity), call.name, "".join(call.arguments) or "{}"))
        return tuple(finished)

    # -- failures

    def _raise_empty(self, stop: Stop) -> NoReturn:
        if stop is Stop.LENGTH:
            raise ModelError(
                ModelFault.EMPTY, "the model used up its limit before it wrote an answer; raise agent.max_tokens"
            )
        raise ModelError(ModelFault.EMPTY, f"the model at {self._host} gave an empty answer")

    def _raise_cut(self) -> NoReturn:
        if self._strange and not self._any and not self._broken:
            self._raise_garbage("text")
        if self._feed == self._feed_first and not self._broken:
            raise ModelError(ModelFault.EMPTY, f"{self._host} gave an empty answer")
        raise ModelError(ModelFault.CUT, f"{self._host} broke off before the answer was complete")

    def _raise_garbage(self, what: str) -> NoReturn:
        said = f"it sent {what}"
        raise ModelError(ModelFault.GARBAGE, describe(ModelFault.GARBAGE, self._host, said, self._secret))


_load = json.JSONDecoder(strict=False).decode


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Tokens as the server counted them, or None if it did not really count."""
    prompt = _count(usage, "prompt_tokens")
    completion = _count(usage, "completion_tokens")
    if not prompt and not completion:
        return None
    read = _count(usage, "prompt_tokens_details", "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    return Usage(
        input=prompt,
        output=completion,
        cache_read=min(read, prompt),
        cache_write=min(_count(usage, "prompt_tokens_details", "cache_write_tokens"), prompt),
        reasoning=_count(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _count(usage: Mapping[str, Any], *path: str) -> int:
    value: Any = usage
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if type(value) is int and value > 0 else 0
