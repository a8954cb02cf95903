"""What memory asks of a model in the background, within one budget of tokens a day."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from hob.core.clock import Clock
from hob.core.errors import BudgetExceeded, ModelError
from hob.core.ids import SessionKey
from hob.core.memory import OWNER
from hob.core.ports.journal import Ledger
from hob.core.translation.language import translatable

FACTS, OBSERVER, REFLECTOR, CONSOLIDATION = "facts", "observer", "reflector", "consolidation"
REWRITING, RERANKING = "rewriting", "reranking"
TASKS = (FACTS, OBSERVER, REFLECTOR, CONSOLIDATION)
"""The names under which the ledger keeps what this work takes; and what help with searches takes."""
SHARES: Mapping[str, float] = {CONSOLIDATION: 0.5}
"""Of the day's tokens, from which part on some work waits: a night with much to sum up leaves the rest for facts."""


class BackgroundModel(Protocol):
    """Asks a model beside all turns; what it takes is recorded under the name of its task."""

    async def ask(self, task: str, session: SessionKey, system: str, question: str, max_tokens: int) -> str:
        """The answer, in at most `max_tokens` tokens. Raises ModelError, BudgetExceeded, StoreErrors."""

    def estimate(self, text: str) -> int:
        """About how many tokens the text has, rather too many."""


class WorkPaused(Exception):
    """The work cannot go on now: `reason` is `budget`, `model` or `answer`; `why` is for people."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why


class BackgroundBudget:
    """Asks as long as something is left of the day's tokens."""

    def __init__(self, tokens: int, ledger: Ledger, clock: Clock, today: Callable[[datetime], float]) -> None:
        """`today` tells when the day of a time began (Unix seconds)."""
        self.tokens = tokens
        """A day."""
        self._ledger = ledger
        self._clock = clock
        self._today = today
        self.waits: WorkPaused | None = None
        """Why the work waits, as far as it does."""

    async def spent(self) -> int:
        """Tokens of today, sent and received. Raises StoreErrors."""
        return await self._spent_on(*TASKS, REWRITING, RERANKING)

    async def _spent_on(self, *tasks: str) -> int:
        used = (await self._ledger.spent(tasks=tasks, since=self._today(self._clock.now()))).usage
        return used.input + used.output

    async def ask(self, model: BackgroundModel, task: str, system: str, question: str, max_tokens: int) -> str:
        """The answer. Raises Waits where there is none to be had now, StoreErrors."""
        left = self.tokens - await self.spent()
        if task in SHARES and await self._spent_on(task) >= SHARES[task] * self.tokens:
            left = 0
        needed = model.estimate(system + question) + max_tokens
        if needed > left:
            why = translatable(
                "{task} needs {needed:,} tokens; {left:,} are left today", task=task, needed=needed, left=max(0, left)
            )
            self.waits = WorkPaused("budget", why)
            raise self.waits
        try:
            answer = await model.ask(task, SessionKey(f"memory:{OWNER}"), system, question, max_tokens)
        except (ModelError, BudgetExceeded) as error:
            self.waits = WorkPaused("model", str(error))
            raise self.waits from error
        self.waits = None
        return answer

    async def view(self) -> Mapping[str, Any]:
        """As `hob status` and the routes tell it. Raises StoreErrors."""
        waits = self.waits
        return {
            "tokens_today": await self.spent(),
            "tokens_a_day": self.tokens,
            "waits_for": waits.reason if waits else "",
            "why": waits.why if waits else "",
        }
