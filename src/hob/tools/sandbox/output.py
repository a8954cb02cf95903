"""What a command wrote: its beginning and its end are kept, the middle of a long output is counted and passed on."""

from collections.abc import Callable

MOST_KEPT = 256 * 1024
_HEAD = 0.4  # the share that the beginning may have; what matters more stands at the end

Heard = Callable[[bytes], None]


def ignore(_: object) -> None:
    """Hear nothing."""


class CommandOutputBuffer:
    """Takes pieces as they come. `heard` is given every piece, also what is not kept."""

    def __init__(self, heard: Heard = ignore, most: int = MOST_KEPT) -> None:
        self.total = 0
        self._heard = heard
        self._room = int(most * _HEAD)
        self._most_tail = most - self._room
        self._head = bytearray()
        self._tail = bytearray()
        self._news = bytearray()
        self._missed = 0

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        self.total += len(piece)
        self._heard(piece)
        self._news += piece
        if (over := len(self._news) - self._most_tail) > 0:
            del self._news[:over]
            self._missed += over
        room = self._room - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:] if room else piece
        if len(self._tail) > 2 * self._most_tail:  # trimmed seldom, so that small pieces stay cheap
            del self._tail[: -self._most_tail]

    @property
    def kept(self) -> bytes:
        """Beginning and end, what lies between left out."""
        return bytes(self._head) + bytes(self._tail[-self._most_tail :])

    @property
    def left_out(self) -> int:
        """How many bytes are missing between the beginning and the end."""
        return self.total - len(self.kept)

    @property
    def gap(self) -> int:
        """Where in what is kept something is left out."""
        return len(self._head)

    def take_news(self) -> tuple[bytes, int]:
        """What came since this was last asked, and how many bytes before that were too many to keep."""
        news, missed = bytes(self._news), self._missed
        self._news.clear()
        self._missed = 0
        return news, missed
