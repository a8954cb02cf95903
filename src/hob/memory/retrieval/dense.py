"""The items whose meaning is near a question's.

The signs of a scope's vectors are held in memory; those that differ least from the question's are compared exactly.
With numpy (the extra `memory`) a million take tens of milliseconds, without it a second or less.
"""

import math
import struct
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import compress, islice
from operator import mul
from typing import Any, Final

from hob.core.values import dataclass
from hob.store.memory.search import ScopedIndex
from hob.store.memory.vectors import signs

NEAREST: Final = 200
"""The candidates that meaning brings."""
_EXACTLY = 40
"""Of them are compared exactly where there is no numpy; of the others the signs tell about how near they are."""
_READ = 50_000
"""Rows that are read at once."""
_number = partial(int.from_bytes, byteorder="little")
_LEAST_ROOM = 1_024
_SAMPLE, _SPARE = 4_000, 10


def load() -> Any:
    """numpy, where it is installed."""
    return import_module("numpy") if find_spec("numpy") else None


@dataclass(slots=True)
class _Signs:
    """The signs of one scope's vectors, as far as they are read."""

    removed: int
    seqs: "array[int]" = field(default_factory=lambda: array("q"))
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
        exactly = list(near) if self._numpy else sorted(near, key=near.__getitem__)[:_EXACTLY]
        kept = index.vectors(self.embedder, exactly)
        fit = {seq: each for seq, each in kept.items() if len(each) == 2 * len(vector)}
        if not self._numpy or not fit:
            about = {seq: math.cos(math.pi * apart / len(vector)) for seq, apart in near.items()}
            return {**about, **{seq: _product(vector, each) for seq, each in fit.items()}}
        table = self._numpy.frombuffer(b"".join(fit.values()), dtype="<f2").reshape(len(fit), -1).astype("f4")
        return dict(zip(fit, (table @ self._numpy.asarray(vector, dtype="f4")).tolist(), strict=True))

    def take_in(self, index: ScopedIndex) -> None:
        """Read the signs of this scope before a question needs them."""
        with self._lock:
            self._read(index)

    def _read(self, index: ScopedIndex) -> _Signs:
        """Take in what is new since the last search; all again where something was removed."""
        held = self._scopes.get(index.scope)
        if held is None or held.removed != index.removed:
            held = self._scopes[index.scope] = _Signs(index.removed)
        rows = index.bits(self.embedder, held.seqs[-1] if held.seqs else 0)
        while some := list(islice(rows, _READ)):
            seqs, bits = zip(*some, strict=True)
            held.seqs.extend(seqs)
            if self._numpy:
                self._add(held, b"".join(bits), len(some))
            else:
                held.numbers += map(_number, bits)
        return held

    def _add(self, held: _Signs, bits: bytes, count: int) -> None:
        """Put them behind the others: a row for each 64 signs, with room for as many again."""
        new = self._numpy.frombuffer(bits, dtype="<u8").reshape(count, -1).T
        first, last = len(held.seqs) - count, len(held.seqs)
        if held.table is None or held.table.shape[1] < last:
            table = self._numpy.empty((len(new), max(_LEAST_ROOM, last + last // 4)), dtype="<u8")
            if held.table is not None:
                table[:, :first] = held.table[:, :first]
            held.table = table
        held.table[:, first:last] = new

    def _near_by_table(self, held: _Signs, vector: Sequence[float]) -> Mapping[int, int]:
        if held.table is None:
            return {}
        numpy = self._numpy
        asked = numpy.frombuffer(signs(vector), dtype="<u8")
        if len(asked) != len(held.table):
            return {}
        apart = numpy.zeros(len(held.seqs), dtype=numpy.uint16)
        for row, part in zip(held.table[:, : len(apart)], asked, strict=True):
            apart += numpy.bitwise_count(row ^ part)
        count = min(NEAREST, len(apart))
        places = numpy.argpartition(apart, count - 1)[:count]
        return {held.seqs[place]: int(apart[place]) for place in sorted(places.tolist())}


def _near_by_numbers(held: _Signs, vector: Sequence[float]) -> Mapping[int, int]:
    """The nearest and how many signs differ; how near that must be is told by some of them."""
    asked = int.from_bytes(signs(vector), "little")
    apart = list(map(int.bit_count, map(asked.__xor__, held.numbers)))
    some = apart[:: max(1, len(apart) // _SAMPLE)]
    limit = sorted(some)[min(len(some) - 1, 2 * NEAREST * len(some) // len(apart) + _SPARE)] if apart else 0
    within = list(map(limit.__ge__, apart))
    pairs = sorted(zip(compress(apart, within), compress(held.seqs, within), strict=True))[:NEAREST]
    return {seq: distance for distance, seq in pairs}


def _product(vector: Sequence[float], halves: bytes) -> float:
    return float(sum(map(mul, vector, struct.unpack(f"<{len(vector)}e", halves))))
