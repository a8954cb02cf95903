"""Decoding of streamed answers: bytes in, events out. Shared by all wires.

Theory of operation. A server answers with server-sent events, with lines of JSON, with one JSON value although a stream
was requested, or with something else entirely (a web page, a proxy's message). The first byte that is not white space
decides. Bytes may be split anywhere, so a line is processed only when it is complete; only then can UTF-8 be decoded.
The events do not depend on where the bytes were split, except that adjacent pieces of text that arrive together become
one event.

An answer is complete when the end defined by its wire was seen. Anything shorter was cut, however cleanly the
connection was closed: a partial answer must never be mistaken for a whole one.

Formats: https://html.spec.whatwg.org/multipage/server-sent-events.html, https://github.com/ndjson/ndjson-spec
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from hob.core.errors import ModelError, ModelFault
from hob.core.models import KeepAlive, ModelEvent, StopReason, Usage
from hob.core.translation.language import translatable
from hob.providers.http.answer import PartialAnswer
from hob.providers.http.faults import describe, hide_keys, read_stream_error
from hob.providers.http.past_calls import is_too_deep

MAX_LINE = 8 * 1024 * 1024
"""Maximum bytes of a line, or of a whole JSON answer."""
MAX_TOKENS = 10**9
"""Maximum plausible token count; sums of many answers must fit into 64 bits."""
_KEEP_ALIVE = KeepAlive()
_FAULTS_AT_END = frozenset({ModelFault.EMPTY, ModelFault.FILTERED})
_load = json.JSONDecoder(strict=False).decode


class Decoder(ABC):
    """Decoder of one answer: call `feed` with each piece, then `finish`.

    A wire implements `_take_object` (a JSON object of the stream), `_take_whole` (a whole JSON answer) and calls
    `_complete` at the end. `_take_text` is a fast path for text. `_ended` says whether the answer counts as complete if
    the stream stops without saying so.
    """

    lines_of_json = False
    """Whether each line is a JSON value (NDJSON) rather than part of a server-sent event."""

    def __init__(
        self, *, host: str = "the server", salt: str = "", taken: Collection[str] = (), secrets: tuple[str, ...] = ()
    ) -> None:
        self.done = False
        """Whether the reply is complete."""
        self._answer = PartialAnswer(host, salt, taken, secrets)
        self._host = host
        self._secrets = secrets
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._feed = self._feed_first
        self._after_cr = False
        self._data: list[str] = []
        self._data_size = 0
        self._strange = False
        self._any = False
        self._broken = False

    def _take(self, chunk: Any) -> None:
        """Process a JSON value of the stream. Raises ModelError."""
        try:
            if self._take_text(chunk):
                return
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            pass  # anything other than plain text
        if not isinstance(chunk, dict):
            self._raise_garbage(translatable("data that is not an object"))
        self._take_object(chunk)

    @abstractmethod
    def _take_text(self, chunk: Any) -> bool:
        """Add the text if the value is nothing but a piece of text; otherwise return False.

        May raise KeyError, TypeError and the like for other values, before changing anything.
        """

    @abstractmethod
    def _take_object(self, chunk: dict[str, Any]) -> None:
        """Process a JSON object of the stream. Raises ModelError."""

    @abstractmethod
    def _take_whole(self, answer: Any) -> bool:
        """Process a whole JSON answer; return False if it is not one. Raises ModelError."""

    @abstractmethod
    def _ended(self) -> StopReason | None:
        """Return how the answer ended, if that is known."""

    def feed(self, data: bytes) -> list[ModelEvent]:
        """Return the events in these bytes; a `KeepAlive` if there are none. Raises ModelError."""
        if not data or self.done:
            return []
        try:
            self._feed(data)
        except ModelError as error:
            self._count_in(error)
            raise
        return self._answer.take_events() or [_KEEP_ALIVE]

    def finish(self, *, broken: bool = False) -> list[ModelEvent]:
        """End the answer, after a broken connection or a regular end.

        Returns the reply if it is complete; otherwise raises ModelError.
        """
        if self.done:
            return []
        self._broken = broken
        try:
            self._finish_feed()
        except ModelError as error:
            self._count_in(error)
            raise
        return self._answer.take_events()

    def _finish_feed(self) -> None:
        if self._feed == self._feed_json:
            self._read_whole()
        elif self._feed == self._feed_lines:
            self._last_line()
        if not self.done:
            stop = self._ended()
            if stop is None:
                self._raise_cut()
            self._complete(stop)

    def _complete(self, stop: StopReason) -> None:
        self._answer.complete(stop)
        self.done = True

    # -- kinds of answers

    def _feed_first(self, data: bytes) -> None:
        start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start:
            return
        if start[:1] in b"{[" and not self.lines_of_json:
            self._feed = self._feed_json
        elif start[:1] == b"<":
            self._raise_garbage(translatable("a web page"))
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
        take = self._take_json_line if self.lines_of_json else self._take_line
        for line in block.split(b"\n"):
            take(line)
            if self.done:
                return

    def _keep(self, data: bytes) -> None:
        self._rest.append(data)
        self._rest_size += len(data)
        if self._rest_size > MAX_LINE:
            self._raise_garbage(translatable("a line without end"))

    def _only_newlines(self, data: bytes) -> bytes:
        # lines end with CR LF, LF or CR; CR LF may be split
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    # -- lines

    def _take_line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._any = True
            if self._data:
                self._go_on(line)
            self._data.append(line[6 if line[5:6] == b" " else 5 :].decode("utf-8", "replace"))
        elif not line:
            if self._data:
                self._take_data()
        elif not line.startswith((b":", b"event:", b"id:", b"retry:")) and line != b"data":
            self._strange = True

    def _take_json_line(self, line: bytes) -> None:
        if line.strip():
            self._any = True
            self._data.append(line.decode("utf-8", "replace"))
            self._take_data()

    def _go_on(self, line: bytes) -> None:
        # Some servers omit the blank line between events, and a complete object is never the first line of a longer
        # one.
        if len(self._data) == 1 and self._data[0].rstrip().endswith(("}", "]")):
            try:
                json.loads(self._data[0])
            except (ValueError, RecursionError):
                pass
            else:
                self._take_data()
        self._data_size = len(line) + (self._data_size if self._data else 0)
        if self._data_size > MAX_LINE:
            self._raise_garbage(translatable("an event without end"))

    def _take_data(self) -> None:
        data = self._data[0] if len(self._data) == 1 else "\n".join(self._data)
        self._data.clear()
        try:
            chunk = _load(data)
        except (ValueError, RecursionError):
            self._take_words(data.strip())
            return
        if is_too_deep(chunk, data):
            self._raise_garbage(translatable("data that is nested without end"))
        self._take(chunk)

    def _take_words(self, words: str) -> None:
        if words == "[DONE]":
            self._complete(self._ended() or StopReason.END)
        elif words:
            self._raise_garbage(translatable("a broken line: {line}", line=hide_keys(words, self._secrets)[:80]))

    def _last_line(self) -> None:
        line = b"".join(self._rest)
        self._rest.clear()
        try:
            if line:
                (self._take_json_line if self.lines_of_json else self._take_line)(line)
            if self._data:
                self._take_data()
        except ModelError as error:
            if error.fault is not ModelFault.GARBAGE:
                raise
            self._raise_cut()

    def _read_whole(self) -> None:
        text = b"".join(self._rest).decode("utf-8", "replace")
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            self._raise_cut()
        if is_too_deep(answer, text):
            self._raise_garbage(translatable("JSON that is nested without end"))
        self._any = True
        if isinstance(answer, dict) and answer.get("error"):
            self._raise_error(answer["error"])
        if not self._take_whole(answer):
            self._raise_garbage(translatable("JSON that is not an answer"))
        if not self.done:
            self._complete(self._ended() or StopReason.END)

    # -- failures

    def _counted(self) -> Usage | None:
        """Return the usage reported so far."""
        return self._answer.usage

    def _count_in(self, error: ModelError) -> None:
        """Add the known usage and cost to the error.

        The output of an interrupted answer was not counted; two characters per token is an upper estimate.
        """
        usage, error.cost = self._counted(), self._answer.cost
        if usage is not None and error.fault not in _FAULTS_AT_END:
            usage = replace(usage, output=max(usage.output, (self._answer.size + 1) // 2))
        error.usage = usage
        if error.fault is ModelFault.GARBAGE and not self._any:  # e.g. a web page: not a model, so it costs nothing
            error.cost = 0

    def _raise_error(self, error: Any) -> NoReturn:
        """Raise an error that the server sent within its answer."""
        raise read_stream_error(error, host=self._host, secrets=self._secrets)

    def _raise_cut(self) -> NoReturn:
        if self._strange and not self._any and not self._broken:
            self._raise_garbage(translatable("text"))
        if self._feed == self._feed_first and not self._broken:
            raise ModelError(ModelFault.EMPTY, translatable("{host} gave an empty answer", host=self._host))
        raise ModelError(
            ModelFault.CUT, translatable("{host} broke off before the answer was complete", host=self._host)
        )

    def _raise_garbage(self, what: str) -> NoReturn:
        said = translatable("it sent {what}", what=what)
        raise ModelError(ModelFault.GARBAGE, describe(ModelFault.GARBAGE, self._host, said, self._secrets))


def make_usage(
    prompt: int, output: int, *, cache_read: int = 0, cache_write: int = 0, cache_write_1h: int = 0, reasoning: int = 0
) -> Usage | None:
    """Return a server's token counts, each part limited to its whole; None if the server did not really count."""
    if not prompt and not output:
        return None
    read = min(cache_read, prompt)
    written = min(cache_write, prompt - read)
    return Usage(prompt, output, read, written, min(reasoning, output), min(cache_write_1h, written))


def read_token_count(usage: Mapping[str, Any], *path: str) -> int:
    """Return a token count from a server's usage; 0 if it is missing, invalid or implausible."""
    value: Any = usage
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if type(value) is int and 0 < value <= MAX_TOKENS else 0
