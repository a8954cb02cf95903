"""`Lazy`: modules that are imported when they are first needed."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Decorates a function with one import statement; called, it gives what that function returns, loaded once.

    Type checkers and the contracts between the layers see the import. Nothing is loaded before the first call.
    """

    __slots__ = ("_found", "_load")

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._found: T | None = None

    def __call__(self) -> T:
        if self._found is None:
            self._found = self._load()
        return self._found

    @property
    def found(self) -> T | None:
        """What was loaded, where it was."""
        return self._found
