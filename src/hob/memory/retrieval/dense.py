"""Vector search without numpy: sign bits in memory, then exact comparison.

The sign bits of a scope are stored transposed: one big integer per dimension, with one bit per item. Bitwise operations
on these integers count the differing signs of 65,536 items at once, digit by digit (a carry-save adder), which makes a
million items affordable. The nearest candidates are then compared exactly, and the sentences of the best of them too.
"""

import heapq
import re
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice, zip_longest
from typing import Final, NamedTuple

from hob.core.values import dataclass
from hob.store.memory.search import ScopedIndex
from hob.store.memory.vectors import ZERO, scale_of, signs

_COMPARED: Final = 300
"""Number of candidates that are compared exactly, with their sentences."""
_NEAREST: Final = 200
"""Number of items that are returned."""
_SENTENCE_SHARE = 0.6
"""Weight of an item's nearest sentence against the whole, if the sentence is nearer."""
_MAX_DIMENSIONS = 768
"""Maximum dimensions compared. Of longer vectors, those in which the question's values are farthest from 0."""
_BLOCK_ITEMS = 65_536
"""Items per block; a multiple of 8."""
_NONZERO = re.compile(rb"[^\0]")
_BITS_OF = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]


@dataclass(slots=True)
class _Block:
    """A block of consecutive items: their number, and per dimension one bit for each item."""

    count: int = 0
    signs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Signs:
    """The sign bits of one scope's vectors that are loaded so far."""

    removed: int
    seqs: "array[int]" = field(default_factory=lambda: array("q"))
    blocks: list[_Block] = field(default_factory=list)


class NearItems(NamedTuple):
    """The items that are nearest in meaning to a question."""

    cosines: Mapping[int, float]
    last: int
    """The newest row that has a vector. Later ones wait for theirs."""


class BinaryVectorIndex:
    """Nearest-neighbour index over the vectors of one embedder. Thread-safe."""

    def __init__(self, embedder: int) -> None:
        self.embedder = embedder
        self._scopes: dict[int, _Signs] = {}
        self._lock = threading.Lock()

    def find(self, index: ScopedIndex, vector: Sequence[float]) -> NearItems:
        """Return the nearest items. All vectors have unit length."""
        with self._lock:
            held = self._read(index)
            near, last = _nearest(held, vector), held.seqs[-1] if held.seqs else 0
        return NearItems(_compare(vector, index.vectors(self.embedder, near)), last)

    def update(self, index: ScopedIndex) -> None:
        """Load this scope's sign bits ahead of a question."""
        with self._lock:
            self._read(index)

    def _read(self, index: ScopedIndex) -> _Signs:
        """Load what was added since the last search; reload everything if something was removed."""
        held = self._scopes.get(index.scope)
        if held is None or held.removed != index.removed:
            held = self._scopes[index.scope] = _Signs(index.removed)
        while True:
            last = held.blocks[-1] if held.blocks and held.blocks[-1].count < _BLOCK_ITEMS else None
            room = _BLOCK_ITEMS - (last.count if last else 0)
            seqs, bits = index.bits(self.embedder, held.seqs[-1] if held.seqs else 0, room)
            if not seqs:
                return held
            if last is None:
                held.blocks.append(last := _Block())
            _append(last, bits, len(seqs))
            held.seqs.extend(seqs)


def _append(block: _Block, bits: bytes, count: int) -> None:
    turned = _transpose(bits, len(bits) // count)
    if block.signs:
        for place, each in enumerate(turned):
            block.signs[place] |= each << block.count
    else:
        block.signs = list(turned)
    block.count += count


def _transpose(bits: bytes, width: int) -> Iterator[int]:
    """Transpose the sign bits: yield one integer per dimension from rows of `width` bytes.

    Squares of 8 x 8 bits, eight rows wide, are transposed all at once (Warren, Hacker's Delight, 7-3).
    """
    bits += bytes(-(len(bits) // width) % 8 * width)
    size = len(bits) // width // 8
    steps = [
        (apart, int.from_bytes(bytes([mask]) * size, "little")) for apart, mask in ((4, 0x0F), (2, 0x33), (1, 0x55))
    ]
    for place in range(width):
        rows = [int.from_bytes(bits[place + row * width :: 8 * width], "little") for row in range(8)]
        for apart, mask in steps:
            for row in (row for row in range(8) if not row & apart):
                swapped = (rows[row] >> apart ^ rows[row + apart]) & mask
                rows[row] ^= swapped << apart
                rows[row + apart] ^= swapped
        yield from rows


def _compare(vector: Sequence[float], stored: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosines of the nearest items. A message is often about several things, of which its vector is only the
    mean: a sentence that is nearer to the question counts more than the whole.
    """
    width, scale = len(vector), scale_of(len(vector))
    dimensions = sorted(range(width), key=[*map(abs, vector)].__getitem__, reverse=True)[:_MAX_DIMENSIONS]
    asked = {place: round(scale * vector[place]) for place in dimensions}
    length = sum(number * number for number in asked.values()) or 1
    fitting = {seq: packed for seq, packed in stored.items() if packed and len(packed) % width == 0}
    products = iter(_multiply(asked, b"".join(fitting.values()), width))
    cosines = dict[int, float]()
    for seq, packed in fitting.items():
        whole, *sentences = islice(products, len(packed) // width)
        nearer = max(0, max(sentences, default=whole) - whole)
        cosines[seq] = (whole + _SENTENCE_SHARE * nearer) / length
    return {seq: cosines[seq] for seq in heapq.nlargest(_NEAREST, cosines, key=cosines.__getitem__)}


def _multiply(asked: Mapping[int, int], rows: bytes, width: int) -> list[int]:
    """Return the scalar products of the question's numbers, given by dimension, and each row of packed vectors.

    One large integer has a slot for each row, so that one multiplication does all rows at once.
    """
    count = len(rows) // width
    size = (255 * sum(map(abs, asked.values()))).bit_length() // 8 + 1
    slots, more, less = bytearray(size * count), 0, 0
    for place, factor in asked.items():
        slots[::size] = rows[place::width]
        if factor > 0:
            more += factor * int.from_bytes(slots, "little")
        else:
            less -= factor * int.from_bytes(slots, "little")
    above, below = (number.to_bytes(size * count, "little") for number in (more, less))
    shift = ZERO * sum(asked.values())
    slices = (slice(start, start + size) for start in range(0, size * count, size))
    return [int.from_bytes(above[one], "little") - int.from_bytes(below[one], "little") - shift for one in slices]


def _nearest(held: _Signs, vector: Sequence[float]) -> list[int]:
    """Return the rows that differ least in signs, weighted by the question's values."""
    asked, weights = int.from_bytes(signs(vector), "little"), _weights(vector)
    found: list[tuple[int, int]] = []
    start = 0
    for block in held.blocks:
        found += ((apart, held.seqs[start + place]) for apart, place in _nearest_in_block(block, asked, weights))
        start += block.count
    return [seq for _, seq in sorted(found)[:_COMPARED]]


def _weights(vector: Sequence[float]) -> list[int]:
    """Return the weight of each sign, 0 to 3, by the distance of its value from 0. The mean is about 1."""
    mean = sum(map(abs, vector)) / len(vector) or 1.0
    return [min(3, int(abs(number) / mean + 0.5)) for number in reversed(vector)]


def _nearest_in_block(block: _Block, asked: int, weights: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return the difference and position of the block's nearest items."""
    every, size = (1 << block.count) - 1, -(-block.count // 8)
    unlike: tuple[list[int], list[int]] = ([], [])
    alike: tuple[list[int], list[int]] = ([], [])
    for place, (bits, weight) in enumerate(zip(block.signs, weights, strict=False)):
        columns = alike if asked >> place & 1 else unlike
        for power, numbers in enumerate(columns):
            if weight >> power & 1:
                numbers.append(bits)
    digits = _subtract(_add_columns(unlike), _add_columns(alike), sum(weights).bit_length(), every)
    least = _select_least(digits, every).to_bytes(size, "little")
    places = [(some.start(), bit) for some in _NONZERO.finditer(least) for bit in _BITS_OF[some[0][0]]]
    sums = [0] * len(places)
    for power, digit in enumerate(digits):
        packed = digit.to_bytes(size, "little")
        sums = [found | (packed[byte] >> bit & 1) << power for found, (byte, bit) in zip(sums, places, strict=True)]
    return zip(sums, [8 * byte + bit for byte, bit in places], strict=True)


def _add_columns(columns: Sequence[Sequence[int]]) -> list[int]:
    """Add the columns bitwise for all items at once. Each column counts twice the one before it.

    Returns the digits of the sums, least significant first.
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


def _subtract(more: Sequence[int], less: Sequence[int], count: int, every: int) -> list[int]:
    """Return the digits of `more - less + 2**count - 1` for all items at once; the constant keeps the result from
    becoming negative. Both operands have at most `count` digits.
    """
    digits, carry = list[int](), 0
    for one, other, _ in zip_longest(more, less, range(count), fillvalue=0):
        other ^= every
        either = one ^ other
        digits.append(either ^ carry)
        carry = one & other | either & carry
    return [*digits, carry]


def _select_least(digits: Sequence[int], among: int) -> int:
    """Return a bit mask of the `_COMPARED` items with the least sums, including ties."""
    sure = 0
    for digit in reversed(digits):
        less = among ^ among & digit
        if (sure | less).bit_count() >= _COMPARED:
            among = less
        else:
            sure |= less
            among &= digit
    return sure | among
