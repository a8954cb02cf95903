"""Wake-ups within one process. Their data is in the store: a lost wake-up costs time, never a message."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """A wake-up: call it to tell the current subscribers that there may be something to look at."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], object]] = []

    def __call__(self, about: T) -> None:
        for listener in tuple(self._listeners):
            listener(about)

    @contextmanager
    def subscribed(self, listener: Callable[[T], object]) -> Iterator[None]:
        """Call the listener on each wake-up while the block is open. It must not raise."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)
