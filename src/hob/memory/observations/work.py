"""Shared state of background work on conversations."""

from collections.abc import Callable

from hob.core.clock import Clock
from hob.memory.background_model import BackgroundBudget
from hob.memory.settings import MemorySettings
from hob.store.memory.work import StoredWork


class ConversationWork:
    """Base of steps that derive items from conversations."""

    def __init__(
        self,
        work: StoredWork,
        budget: BackgroundBudget,
        settings: MemorySettings,
        clock: Clock,
        made: Callable[[], None] = lambda: None,
    ) -> None:
        """`made` is called when there are new items."""
        self._work = work
        self._budget = budget
        self._settings = settings
        self._clock = clock
        self._made = made
