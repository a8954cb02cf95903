"""`Lazy`: modules imported on first use."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Decorator for a function with one import statement; calling it returns the imported object, loaded once.

    Type checkers and the layer contracts see the import. Nothing is loaded before the first call.
    """

    __slots__ = ("_load", "_value")

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._value: T | None = None

    def __call__(self) -> T:
        if self._value is None:
            self._value = self._load()
        return self._value

    @property
    def loaded(self) -> T | None:
        """The object, if it has been loaded."""
        return self._value


def resolve(provider: object) -> object:
    """Return the provider of a port, loaded now if it is a `Lazy`."""
    return provider() if isinstance(provider, Lazy) else provider
