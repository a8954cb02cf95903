"""The items whose meaning is near a question's.

The signs of a scope's vectors are held in memory; those that differ least from the question's are compared exactly.
With numpy (the extra `memory`) a million take tens of milliseconds, without it a second or less.
"""

import struct
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from importlib import import_module
from importlib.util import find_spec
from operator import mul
from typing import Any, Final

from hob.core.values import dataclass
from hob.store.memory.search import ScopedIndex
from hob.store.memory.vectors import signs

NEAREST: Final = 200
"""Items that are compared exactly, and the candidates that meaning brings."""


def load() -> Any:
    """numpy, where it is installed."""
    return import_module("numpy") if find_spec("numpy") else None


@dataclass(slots=True)
class _Signs:
    """The signs of one scope's vectors, as far as they are read."""

    removed: int
    seqs: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    table: Any = None


class SignIndex:
    """Finds near vectors of one embedder. May be used by several threads."""

    def __init__(self, embedder: int) -> None:
        self.embedder = embedder
        self._numpy = load()
        self._scopes: dict[int, _Signs] = {}
        self._lock = threading.Lock()

    def find(self, index: ScopedIndex, vector: Sequence[float]) -> dict[int, float]:
        """The cosines of the nearest items; all vectors have unit length."""
        with self._lock:
            held = self._read(index)
            near = self._near_by_table(held, vector) if self._numpy else _near_by_numbers(held, vector)
        kept = index.vectors(self.embedder, near)
        fit = {seq: each for seq, each in kept.items() if len(each) == 2 * len(vector)}
        if not self._numpy or not fit:
            return {seq: _product(vector, each) for seq, each in fit.items()}
        table = self._numpy.frombuffer(b"".join(fit.values()), dtype="<f2").reshape(len(fit), -1).astype("f4")
        return dict(zip(fit, (table @ self._numpy.asarray(vector, dtype="f4")).tolist(), strict=True))

    def _read(self, index: ScopedIndex) -> _Signs:
        """Take in what is new since the last search; all again where something was removed."""
        held = self._scopes.get(index.scope)
        if held is None or held.removed != index.removed:
            held = self._scopes[index.scope] = _Signs(index.removed)
        rows = list(index.bits(self.embedder, held.seqs[-1] if held.seqs else 0))
        if rows:
            held.seqs += (seq for seq, _ in rows)
            if self._numpy:
                new = self._numpy.frombuffer(b"".join(bits for _, bits in rows), dtype="<u8").reshape(len(rows), -1)
                held.table = new if held.table is None else self._numpy.concatenate((held.table, new))
            else:
                held.numbers += (int.from_bytes(bits, "little") for _, bits in rows)
        return held

    def _near_by_table(self, held: _Signs, vector: Sequence[float]) -> Iterable[int]:
        if held.table is None:
            return []
        numpy = self._numpy
        asked = numpy.frombuffer(signs(vector), dtype="<u8")
        if asked.shape[0] != held.table.shape[1]:
            return []
        apart = numpy.bitwise_count(held.table ^ asked).sum(axis=1, dtype=numpy.uint16)
        count = min(NEAREST, len(apart))
        places = numpy.argpartition(apart, count - 1)[:count]
        return [held.seqs[place] for place in sorted(places.tolist())]


def _near_by_numbers(held: _Signs, vector: Sequence[float]) -> Iterable[int]:
    asked = int.from_bytes(signs(vector), "little")
    apart = [(asked ^ number).bit_count() for number in held.numbers]
    left, limit = NEAREST, -1
    for distance, often in sorted(Counter(apart).items()):
        limit, left = distance, left - often
        if left <= 0:
            break
    return [seq for seq, distance in zip(held.seqs, apart, strict=True) if distance <= limit][: 2 * NEAREST]


def _product(vector: Sequence[float], halves: bytes) -> float:
    return float(sum(map(mul, vector, struct.unpack(f"<{len(vector)}e", halves))))
