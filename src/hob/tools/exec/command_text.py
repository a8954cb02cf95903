"""Output of commands as readable text: escapes removed, whole or piece by piece."""

import codecs
import re
from collections.abc import Callable
from typing import Protocol

from hob.core.clock import Clock

# Control sequences, and strings for the terminal itself (ECMA-48, 5.4 and 5.6).
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
_ERASED = re.compile(r"[^\n\x08]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE = re.compile(r"[^\r\n]*[\r\n]?")
_EVERY = 0.1  # seconds between two pieces of live output
_MAX_LIVE = 2_000  # characters of one


def readable(data: bytes) -> str:
    """The text as it would stand in a terminal: no colours, and of a line written over again the last state."""
    text = data.decode("utf-8", "replace")
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    text = _OVERWRITTEN.sub("", text)
    while (shorter := _ERASED.sub("", text)) != text:
        text = shorter
    return _CONTROLS.sub("", text)


class StreamFilter(Protocol):
    """Takes out of a text that comes in pieces what must not be shown."""

    def feed(self, piece: str) -> str:
        """What can be shown now."""

    def finish(self) -> str:
        """What was held back."""


class CommandOutputStream:
    """Passes on what a command writes while it runs: at most ten times a second, and of a flood the newest.

    Where it leaves something out, it goes on at the beginning of a line, so that no half of a secret is shown.
    """

    def __init__(
        self, on_output: Callable[[str], None], clock: Clock, stream_filter: StreamFilter | None = None
    ) -> None:
        self._on_output = on_output
        self._clock = clock
        self._stream_filter = stream_filter
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._last = float("-inf")

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        text = self._waiting + self._decoder.decode(piece[-4 * _MAX_LIVE :])
        if len(piece) > 4 * _MAX_LIVE or len(text) > _MAX_LIVE:
            text = _LINE.sub("", text[-_MAX_LIVE:], count=1)
        self._waiting = text
        if self._clock.monotonic() - self._last >= _EVERY:
            self.flush()

    def flush(self) -> None:
        """Pass on what has not been yet, but for what may be the beginning of a secret."""
        if self._waiting:
            self._last = self._clock.monotonic()
            text = readable(self._waiting.encode())
            self._waiting = ""
            self._pass_on(text if self._stream_filter is None else self._stream_filter.feed(text))

    def end(self) -> None:
        """Pass on all the rest."""
        self.flush()
        if self._stream_filter is not None:
            self._pass_on(self._stream_filter.finish())

    def _pass_on(self, text: str) -> None:
        if text:
            self._on_output(text)
