"""Shared state of background work on conversations."""

from collections.abc import Awaitable, Callable, Sequence

from hob.core.clock import Clock
from hob.core.memory import Scope
from hob.memory.background_model import BackgroundBudget, WorkPaused
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

    async def _each(
        self, sessions: Sequence[tuple[Scope, str]], work: Callable[[Scope, str], Awaitable[object]]
    ) -> None:
        """Work on each session. Useless answers about one do not stop the others. Raises WorkPaused, StoreErrors."""
        useless: WorkPaused | None = None
        for scope, session in sessions:
            try:
                await work(scope, session)
            except WorkPaused as waits:
                if waits.reason != "answer":
                    raise
                useless = waits
        if useless is not None:
            raise useless
