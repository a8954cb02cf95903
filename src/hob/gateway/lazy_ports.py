"""Ports whose implementations and answer types load on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # an idle Hob loads none of these
    from hob.gateway.memory import MemoryControls
    from hob.gateway.repositories import Repositories


class LazyRepositories(NamedTuple):
    """Loads the owner's repositories on first use."""

    get: Callable[[], Repositories]


class LazyMemory(NamedTuple):
    """Loads memory's controls on first use."""

    open: Callable[[], MemoryControls]
