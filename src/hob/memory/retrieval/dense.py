"""Search by meaning: the items whose vectors are near a question's.

The signs of a scope's vectors are held in memory, turned over: for each number of a vector one great integer that has a
bit for each item. So the machine's words add up how many signs of 65,536 items differ, digit by digit (a carry-save
adder), and a million take no numpy. The nearest are compared exactly.
"""

import math
import re
import struct
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cache
from itertools import zip_longest
from typing import Final

from hob.core.values import dataclass
from hob.store.memory.search import ScopedIndex
from hob.store.memory.vectors import signs

NEAREST: Final = 200
"""The candidates that meaning brings."""
_COMPARED = 768
"""So many numbers of a vector are compared: of a longer one those that are farthest from 0 in the question."""
_BLOCK = 65_536
"""Items that are looked at together; a multiple of 8."""
_SOME = re.compile(rb"[^\0]")


@dataclass(slots=True)
class _Block:
    """Items one after the other: how many, and of each of their signs a bit for each of them."""

    count: int = 0
    signs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Signs:
    """The signs of one scope's vectors, as far as they are read."""

    removed: int
    seqs: "array[int]" = field(default_factory=lambda: array("q"))
    blocks: list[_Block] = field(default_factory=list)


class BinaryVectorIndex:
    """Finds near vectors of one embedder. May be used by several threads."""

    def __init__(self, embedder: int) -> None:
        self.embedder = embedder
        self._scopes: dict[int, _Signs] = {}
        self._lock = threading.Lock()

    def find(self, index: ScopedIndex, vector: Sequence[float]) -> dict[int, float]:
        """The cosines of the nearest items; all vectors have unit length."""
        with self._lock:
            near = _nearest(self._read(index), vector)
        packed, cosine = _comparison(vector)
        return {
            seq: cosine(packed.unpack(each))
            for seq, each in index.vectors(self.embedder, near).items()
            if len(each) == packed.size
        }

    def update(self, index: ScopedIndex) -> None:
        """Read the signs of this scope before a question needs them."""
        with self._lock:
            self._read(index)

    def _read(self, index: ScopedIndex) -> _Signs:
        """Take in what is new since the last search; all again where something was removed."""
        held = self._scopes.get(index.scope)
        if held is None or held.removed != index.removed:
            held = self._scopes[index.scope] = _Signs(index.removed)
        while True:
            last = held.blocks[-1] if held.blocks and held.blocks[-1].count < _BLOCK else None
            room = _BLOCK - (last.count if last else 0)
            seqs, bits = index.bits(self.embedder, held.seqs[-1] if held.seqs else 0, room)
            if not seqs:
                return held
            if last is None:
                held.blocks.append(last := _Block())
            _append(last, bits, len(seqs))
            held.seqs.extend(seqs)


def _append(block: _Block, bits: bytes, count: int) -> None:
    turned = _turned(bits, len(bits) // count)
    if block.signs:
        for place, each in enumerate(turned):
            block.signs[place] |= each << block.count
    else:
        block.signs = list(turned)
    block.count += count


def _turned(bits: bytes, width: int) -> Iterator[int]:
    """Of each sign a bit for each row, where every row is so many bytes."""
    rows = len(bits) // width
    bits += bytes(-rows % 8 * width)
    rows += -rows % 8
    masks = [(shift, mask & ((1 << 8 * rows) - 1) if rows < _BLOCK else mask) for shift, mask in _masks()]
    for place in range(width):
        number = int.from_bytes(bits[place::width], "little")
        for shift, mask in masks:
            swapped = (number ^ number >> shift) & mask
            number ^= swapped ^ swapped << shift
        turned = number.to_bytes(rows, "little")
        for sign in range(8):
            yield int.from_bytes(turned[sign::8], "little")


@cache
def _masks() -> tuple[tuple[int, int], ...]:
    """How 8 x 8 bits are turned over (Warren, Hacker's Delight, 7-3)."""
    steps = ((7, "aa00aa00aa00aa00"), (14, "cccc0000cccc0000"), (28, "f0f0f0f000000000"))
    return tuple((shift, int.from_bytes(bytes.fromhex(mask) * (_BLOCK // 8), "little")) for shift, mask in steps)


def _comparison(vector: Sequence[float]) -> tuple[struct.Struct, Callable[[tuple[float, ...]], float]]:
    """What reads the compared numbers of a packed vector, and what makes of them the cosine."""
    asked = tuple(vector)
    if len(asked) <= _COMPARED:
        return struct.Struct(f"<{len(asked)}e"), lambda numbers: 1 - math.dist(asked, numbers) ** 2 / 2
    great = {*sorted(range(len(asked)), key=lambda place: -abs(asked[place]))[:_COMPARED]}
    some = tuple(number for place, number in enumerate(asked) if place in great)
    opposite, four = tuple(-number for number in some), 4 * sum(number * number for number in some) or 1.0
    packed = struct.Struct("<" + "".join("e" if place in great else "2x" for place in range(len(asked))))
    return packed, lambda numbers: (math.dist(opposite, numbers) ** 2 - math.dist(some, numbers) ** 2) / four


def _nearest(held: _Signs, vector: Sequence[float]) -> list[int]:
    """The rows whose signs differ least where the numbers of the vector are great."""
    asked, weights = int.from_bytes(signs(vector), "little"), _weights(vector)
    found: list[tuple[int, int]] = []
    start = 0
    for block in held.blocks:
        found += ((apart, held.seqs[start + place]) for apart, place in _near_in(block, asked, weights))
        start += block.count
    return [seq for _, seq in sorted(found)[:NEAREST]]


def _weights(vector: Sequence[float]) -> list[int]:
    """What each sign counts, in their order: by how far its number is from 0, from 0 to 3; about 1."""
    mean = sum(map(abs, vector)) / len(vector) or 1.0
    return [min(3, int(abs(number) / mean + 0.5)) for number in reversed(vector)]


def _near_in(block: _Block, asked: int, weights: Sequence[int]) -> Iterator[tuple[int, int]]:
    """How far the nearest items of the block are apart, and the places of those."""
    every, size = (1 << block.count) - 1, -(-block.count // 8)
    unlike: tuple[list[int], list[int]] = ([], [])
    alike: tuple[list[int], list[int]] = ([], [])
    for place, (bits, weight) in enumerate(zip(block.signs, weights, strict=False)):
        columns = alike if asked >> place & 1 else unlike
        for power, numbers in enumerate(columns):
            if weight >> power & 1:
                numbers.append(bits)
    digits = _difference(_added(unlike), _added(alike), sum(weights).bit_length(), every)
    packed = [digit.to_bytes(size, "little") for digit in digits]
    for some in _SOME.finditer(_minimum(digits, every).to_bytes(size, "little")):
        byte = some.start()
        for bit in range(8):
            if some[0][0] >> bit & 1:
                yield sum((each[byte] >> bit & 1) << power for power, each in enumerate(packed)), 8 * byte + bit


def _added(columns: Sequence[Sequence[int]]) -> list[int]:
    """What the numbers have together in each place, for all places at once; a column counts twice the one before it.

    The digits of the sums, the least first.
    """
    digits, left, carries = list[int](), list(columns), list[int]()
    while left or carries:
        rest, *numbers = (*(left.pop(0) if left else ()), *carries) or (0,)
        carries, others = [], iter(numbers)
        for one, other in zip_longest(others, others, fillvalue=0):
            either = rest ^ one
            carries.append(rest & one | either & other)
            rest = either ^ other
        digits.append(rest)
    return digits


def _difference(more: Sequence[int], less: Sequence[int], count: int, every: int) -> list[int]:
    """The digits of `more - less` for all places at once, and of 2 to the power of `count` less 1, so that none is
    below 0; both have so many digits at most."""
    digits, carry = list[int](), 0
    for one, other, _ in zip_longest(more, less, range(count), fillvalue=0):
        other ^= every
        either = one ^ other
        digits.append(either ^ carry)
        carry = one & other | either & carry
    return [*digits, carry]


def _minimum(digits: Sequence[int], among: int) -> int:
    """The places with the least sums, as many as are wanted and those that are equal to the last of them."""
    sure = 0
    for digit in reversed(digits):
        less = among ^ among & digit
        if (sure | less).bit_count() >= NEAREST:
            among = less
        else:
            sure |= less
            among &= digit
    return sure | among
