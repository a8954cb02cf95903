"""How the work that a text makes grows with its length, without a clock's opinion of the machine."""

import time
from collections.abc import Callable

_TRIES = 3


def grows_with_its_size(work: Callable[[int], object], size: int, minimum: float = 1e-4) -> None:
    """Eight times as much costs about eight times as much, not sixty-four.

    Compared are one machine's own times: a busy machine changes both alike, and one that was disturbed has further
    tries. What takes less than `least` seconds counts as that much, where the small one need not do everything that
    the large one does.
    """

    def seconds(size: int) -> float:
        start = time.process_time()
        work(size)
        return time.process_time() - start

    few = max(min(seconds(size) for _ in range(_TRIES)), minimum)
    assert any(seconds(8 * size) < 40 * few for _ in range(_TRIES))
