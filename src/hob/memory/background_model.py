"""Model calls by background work on memory, under one daily token budget."""

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
"""Task names under which the ledger records background work and search assistance."""
SHARES: Mapping[str, float] = {CONSOLIDATION: 0.5}
"""Share of the daily tokens above which a task waits, so that a night of summaries leaves some for facts."""


class BackgroundModel(Protocol):
    """Calls a model outside of turns and records the usage under the task's name."""

    async def ask(self, task: str, session: SessionKey, system: str, question: str, max_tokens: int) -> str:
        """Return the answer, of at most `max_tokens` tokens. Raises ModelError, BudgetExceeded, StoreErrors."""

    def estimate(self, text: str) -> int:
        """Estimate the tokens of a text, rounding up."""


class WorkPaused(Exception):
    """Raised if work has to pause. `reason` is `budget`, `model` or `answer`; `why` is in words for people."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why


class BackgroundBudget:
    """Calls the model while tokens of the day remain."""

    def __init__(self, tokens: int, ledger: Ledger, clock: Clock, today: Callable[[datetime], float]) -> None:
        """`today` returns the beginning of the day that contains a time (Unix seconds)."""
        self.tokens = tokens
        """Tokens per day."""
        self._ledger = ledger
        self._clock = clock
        self._today = today
        self._reserved = 0
        """Tokens that calls in progress may still use."""
        self.waits: WorkPaused | None = None
        """Why work is paused, by task."""

    async def spent(self) -> int:
        """Return the tokens sent and received today. Raises StoreErrors."""
        return await self._spent_on(*TASKS, REWRITING, RERANKING)

    async def _spent_on(self, *tasks: str) -> int:
        used = (await self._ledger.spent(tasks=tasks, since=self._today(self._clock.now()))).usage
        return used.input + used.output

    async def ask(self, model: BackgroundModel, task: str, system: str, question: str, max_tokens: int) -> str:
        """Return the answer. Raises WorkPaused if none is available now, StoreErrors."""
        left = self.tokens - await self.spent()
        if task in SHARES and await self._spent_on(task) >= SHARES[task] * self.tokens:
            left = 0
        needed = model.estimate(system + question) + max_tokens
        left -= self._reserved
        if needed > left:
            why = translatable(
                "{task} needs {needed:,} tokens; {left:,} are left today", task=task, needed=needed, left=max(0, left)
            )
            self.waits = WorkPaused("budget", why)
            raise self.waits
        self._reserved += needed
        try:
            answer = await model.ask(task, SessionKey(f"memory:{OWNER}"), system, question, max_tokens)
        except (ModelError, BudgetExceeded) as error:
            self.waits = WorkPaused("model", str(error))
            raise self.waits from error
        finally:
            self._reserved -= needed
        self.waits = None
        return answer

    async def view(self) -> Mapping[str, Any]:
        """Return the budget as `hob status` and the API show it. Raises StoreErrors."""
        waits = self.waits
        return {
            "tokens_today": await self.spent(),
            "tokens_a_day": self.tokens,
            "waits_for": waits.reason if waits else "",
            "why": waits.why if waits else "",
        }
