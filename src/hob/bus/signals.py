"""Wake-ups inside one process. What they are about stands in the store: a lost one costs time, never a message."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """Call it to tell those who listen now that there may be something to look at."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], object]] = []

    def __call__(self, about: T) -> None:
        for listener in tuple(self._listeners):
            listener(about)

    @contextmanager
    def subscribed(self, listener: Callable[[T], object]) -> Iterator[None]:
        """The listener is told while the block is open. It must not raise."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)
