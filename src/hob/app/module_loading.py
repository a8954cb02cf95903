"""Faster imports of large modules, by pausing the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW = 3_000
"""New objects that trigger a collection of the youngest generation."""
_NEVER = 1_000_000


@contextmanager
def without_garbage_collection(*, stays: bool = False) -> Iterator[None]:
    """Import in this block without garbage collection, then freeze what was imported.

    Imported modules stay for good, so scanning them repeatedly is wasted work: a tenth of the load time. They are not
    scanned afterwards either (https://docs.python.org/3/library/gc.html#gc.freeze). In a process that `stays`, new
    objects are still collected once: the class objects that `slots` replaces are 2 MiB.
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
