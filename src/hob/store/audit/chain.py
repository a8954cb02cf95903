"""The hash chain of the audit log: sealing entries and verifying the chain. Pure functions.

Each entry's hash covers the previous hash, so no entry can be changed, removed or moved unnoticed. The head, stored in
another file, holds count and last hash; it shows whether the last entries were cut off, which the chain alone cannot.
"""

import hashlib
import json
from dataclasses import field

from hob.core.translation.language import translatable
from hob.core.values import dataclass

VERSION = 1
FIRST = hashlib.sha256(b"hob audit 1").digest()
"""The previous hash of the first entry."""
BREAK = ("audit", "log", "broken")
"""Kind, name and outcome of the entry that records a loss."""
_MAX_TOLD = 100


@dataclass(frozen=True, slots=True)
class Head:
    """Length of a chain and hash of its last entry."""

    count: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.count}:{self.hash.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Head":
        """Parse the form that `str` returns. Raises ValueError."""
        count, _, sealed = text.strip().partition(":")
        return cls(int(count), bytes.fromhex(sealed))


EMPTY = Head(0, FIRST)


@dataclass(frozen=True, slots=True)
class Sealed:
    """One entry of the chain. `facts` never change; `detail` is the salted hash of the erasable part."""

    seq: int
    facts: tuple[str | float, ...]
    detail: bytes
    previous: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of a check. Without problems nothing was changed, removed, moved or cut off."""

    head: Head
    problems: tuple[str, ...] = ()
    erased: int = 0
    """Entries whose detail was erased on purpose; their hashes are intact."""
    breaks: tuple[int, ...] = ()
    """Entries that record an earlier loss, e.g. after a restored backup."""

    @property
    def whole(self) -> bool:
        """Whether the log is intact."""
        return not self.problems


def seal(head: Head, facts: tuple[str | float, ...], detail: bytes) -> Sealed:
    """Return the entry that follows this head."""
    seq = head.count + 1
    return Sealed(seq, facts, detail, head.hash, _hash(head.hash, seq, facts, detail))


def _hash(previous: bytes, seq: int, facts: tuple[str | float, ...], detail: bytes) -> bytes:
    text = json.dumps([VERSION, seq, *facts, detail.hex()], separators=(",", ":"))
    return hashlib.sha256(previous + text.encode()).digest()


@dataclass(slots=True)
class ChainCheck:
    """Verifies entries one by one, in order of their numbers, and then the stored head."""

    kept: Head | None
    _problems: list[str] = field(default_factory=list)
    _last: Head = EMPTY
    _erased: int = 0
    _breaks: list[int] = field(default_factory=list)
    _met: bool = False
    """Whether the entry named by the stored head was found unchanged."""

    def look(self, entry: Sealed, *, problem: str = "", erased: bool = False) -> None:
        """Verify the next entry; `problem` describes a fault of its detail."""
        expected = self._last.count + 1
        if entry.seq > expected:
            many = translatable("entries {first} to {last} are missing", first=expected, last=entry.seq - 1)
            self._tell(translatable("entry {entry} is missing", entry=expected) if entry.seq - expected == 1 else many)
        elif entry.seq < expected:
            self._tell(translatable("entry {entry} comes after entry {other}", entry=entry.seq, other=self._last.count))
        if entry.hash != _hash(entry.previous, entry.seq, entry.facts, entry.detail):
            self._tell(translatable("entry {entry} was changed", entry=entry.seq))
        elif entry.seq == expected and entry.previous != self._last.hash:
            self._tell(
                translatable("entry {entry} does not follow the one before it: one was replaced", entry=entry.seq)
            )
        if problem:
            self._tell(translatable("entry {entry}: {problem}", entry=entry.seq, problem=problem))
        self._erased += erased
        if entry.facts[1:4] == BREAK and len(self._breaks) < _MAX_TOLD:
            self._breaks.append(entry.seq)
        self._last = Head(entry.seq, entry.hash)
        self._met = self._met or self._last == self.kept

    def finish(self) -> Checked:
        """Verify the end of the chain against the stored head."""
        kept, last = self.kept, self._last
        if kept is None:
            if last.count:
                self._tell(translatable("the head is missing, so whether the last entries are is unknown"))
        elif kept.count > last.count:
            self._tell(
                translatable(
                    "the last {count} of {all} entries are missing", count=kept.count - last.count, all=kept.count
                )
            )
        elif kept.count and not self._met:
            self._tell(
                translatable("entry {entry} is not the one that was written: the log was rewritten", entry=kept.count)
            )
        return Checked(last, tuple(self._problems), self._erased, tuple(self._breaks))

    def _tell(self, problem: str) -> None:
        if len(self._problems) < _MAX_TOLD:
            self._problems.append(problem)
