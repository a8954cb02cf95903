"""Shared state of background work on conversations."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from hob.core.clock import Clock
from hob.core.memory import MemoryItem, Scope
from hob.core.trust.labels import Origin
from hob.memory.background_model import BackgroundBudget, WorkPaused
from hob.memory.facts.extraction import own_words
from hob.memory.settings import MemorySettings
from hob.store.memory.work import StoredWork

MAX_TRIES = 5
"""Useless answers about the same messages, after which the model is asked again only with further ones."""


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
        self._useless: Counter[tuple[str, int]] = Counter()
        """Number of useless answers about something, by the last row of what was asked about."""

    async def _messages(self, scope: Scope, session: str, after: int, minimum: int) -> list[MemoryItem]:
        """Return the next messages of a session, those of people without what they pasted. Raises StoreErrors."""
        found = await self._work.messages(scope, session, after, minimum)
        return [replace(item, text=own_words(item)) if item.role == "user" else item for item in found]

    def _may_ask(self, about: str, upto: int) -> bool:
        """Return whether the model may be asked about this, up to this row."""
        return self._useless[about, upto] < MAX_TRIES

    def _note_useless(self, about: str, upto: int, why: str) -> WorkPaused:
        """Count a useless answer; return the pause to raise."""
        self._useless[about, upto] += 1
        self._budget.waits = WorkPaused("answer", why)
        return self._budget.waits

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


def is_owners(item: MemoryItem) -> bool:
    """Return whether the owner wrote the message: Hob also sends messages to itself, such as reports of sub-agents."""
    return item.role == "user" and item.label.origin is Origin.OWNER
