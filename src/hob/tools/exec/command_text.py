"""Command output as readable text, with control sequences removed, at once or as a stream."""

import codecs
import re
from collections.abc import Callable
from typing import Protocol

from hob.core.clock import Clock

# Control sequences and control strings (ECMA-48, 5.4 and 5.6).
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
_ERASED = re.compile(r"[^\n\x08]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE = re.compile(r"[^\r\n]*[\r\n]?")
_EVERY = 0.1  # seconds between two pieces of live output
_MAX_LIVE = 2_000  # characters of one piece


def to_readable(data: bytes) -> str:
    """Return the text as a terminal would finally show it, without colours: of an overwritten line, its last state."""
    text = data.decode("utf-8", "replace")
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    text = _OVERWRITTEN.sub("", text)
    while (shorter := _ERASED.sub("", text)) != text:
        text = shorter
    return _CONTROLS.sub("", text)


class StreamFilter(Protocol):
    """Removes text that must not be shown from a stream."""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be shown."""

    def finish(self) -> str:
        """Return the text held back."""


class CommandOutputStream:
    """Passes on live output at most ten times a second. Of excessive output, only the newest part is passed on.

    After a gap it continues at the beginning of a line, so that no partial secret is shown.
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
        """Add a piece."""
        text = self._waiting + self._decoder.decode(piece[-4 * _MAX_LIVE :])
        if len(piece) > 4 * _MAX_LIVE or len(text) > _MAX_LIVE:
            text = _LINE.sub("", text[-_MAX_LIVE:], count=1)
        self._waiting = text
        if self._clock.monotonic() - self._last >= _EVERY:
            self.flush()

    def flush(self) -> None:
        """Pass on pending text, except the possible beginning of a secret."""
        if self._waiting:
            self._last = self._clock.monotonic()
            text = to_readable(self._waiting.encode())
            self._waiting = ""
            self._pass_on(text if self._stream_filter is None else self._stream_filter.feed(text))

    def end(self) -> None:
        """Pass on the rest."""
        self.flush()
        if self._stream_filter is not None:
            self._pass_on(self._stream_filter.finish())

    def _pass_on(self, text: str) -> None:
        if text:
            self._on_output(text)
