"""Loading a large part of the program."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """What is imported in the block is loaded without looking for garbage meanwhile.

    What loading makes stays for good: to look through it again and again is a tenth of the time that it takes. Nor is
    it looked through afterwards (https://docs.python.org/3/library/gc.html#gc.freeze).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()
