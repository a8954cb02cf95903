"""Ports whose implementations, and the answers they give, are loaded when somebody first looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # an idle Hob has none of these
    from hob.gateway.memory import EmbeddingControl, MemoryControl
    from hob.gateway.repositories import Repositories


class LazyRepositories(NamedTuple):
    """Leads to the owner's repositories."""

    get: Callable[[], Repositories]


class LazyMemory(NamedTuple):
    """Leads to what looks at memory and changes it, and to its vectors."""

    control: Callable[[], MemoryControl]
    embedding: Callable[[], EmbeddingControl]
