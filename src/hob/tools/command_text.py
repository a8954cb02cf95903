"""What a program wrote for a terminal, as a text to be read; whole, and piece by piece while it is still writing."""

import codecs
import re
from collections.abc import Callable

from hob.core.clock import Clock

# Control sequences, and strings for the terminal itself (ECMA-48, 5.4 and 5.6).
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
_ERASED = re.compile(r"[^\n\x08]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_EVERY = 0.1  # seconds between two pieces of live output
_MOST_LIVE = 2_000  # characters of one


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


class Live:
    """Passes on what a command writes while it runs: at most ten times a second, and of a flood the newest."""

    def __init__(self, shown: Callable[[str], None], clock: Clock) -> None:
        self._shown = shown
        self._clock = clock
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._last = float("-inf")

    def hear(self, piece: bytes) -> None:
        """Take the next piece."""
        self._waiting = (self._waiting + self._decoder.decode(piece[-4 * _MOST_LIVE :]))[-_MOST_LIVE:]
        if self._clock.monotonic() - self._last >= _EVERY:
            self.flush()

    def flush(self) -> None:
        """Pass on what has not been yet."""
        if self._waiting:
            self._last = self._clock.monotonic()
            self._shown(readable(self._waiting.encode()))
            self._waiting = ""
