"""How the work that a text makes grows with its length, without a clock's opinion of the machine."""

import time
from collections.abc import Callable


def grows_with_its_size(work: Callable[[int], object], size: int, least: float = 1e-4) -> None:
    """Eight times as much costs about eight times as much, not sixty-four.

    Compared are one machine's own times, the best of three: a busy machine changes both alike. What takes less than
    `least` seconds counts as that much, where the small one need not do everything that the large one does.
    """

    def seconds(size: int) -> float:
        taken = []
        for _ in range(3):
            start = time.process_time()
            work(size)
            taken.append(time.process_time() - start)
        return min(taken)

    few = max(seconds(size), least)
    assert seconds(8 * size) < 24 * few
