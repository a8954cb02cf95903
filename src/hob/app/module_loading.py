"""Importing large modules quickly: the garbage collector waits meanwhile."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW = 3_000
"""Objects after which what is new is looked through."""
_NEVER = 1_000_000


@contextmanager
def without_garbage_collection(*, stays: bool = False) -> Iterator[None]:
    """What is imported in the block is loaded without looking for garbage meanwhile.

    What loading makes stays for good: to look through it again and again is a tenth of the time that it takes. Nor is
    it looked through afterwards (https://docs.python.org/3/library/gc.html#gc.freeze). In a process that `stays`,
    everything is looked through once, while it is new: the classes that `slots` had made twice are 2 MiB.
    """
    enabled, thresholds = gc.isenabled(), gc.get_threshold()
    if stays:
        gc.set_threshold(_NEW, _NEVER, _NEVER)
    else:
        gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if enabled:
            if stays:
                gc.collect(0)
            gc.freeze()
            gc.enable()
