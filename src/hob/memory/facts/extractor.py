"""Extraction of facts and goals from the owner's messages, in batches. The queue is durable."""

from collections.abc import Callable, Sequence
from functools import partial

from hob.core.clock import Clock
from hob.core.ids import new_event_id
from hob.core.memory import Fact, GoalState, MemoryItem, Scope
from hob.core.translation.language import translatable
from hob.memory.background_model import FACTS, BackgroundBudget, BackgroundModel, WorkPaused
from hob.memory.facts.decisions import decide, decide_goal
from hob.memory.facts.extraction import GOALS, INSTRUCTIONS, choose_known, question, read_answer
from hob.store.memory.facts import StoredFacts
from hob.store.memory.goals import StoredGoals
from hob.store.memory.work import StoredWork

AT_ONCE = 8
"""Messages read together; fewer if it has been quiet for a while."""
QUIET_SECONDS = 120.0
_MAX_CHARACTERS = 6_000
_MAX_ANSWER = 800
_MAX_GOALS = 20
_TRIES = 3
Made = Callable[[Scope, Sequence[Fact]], None]


class FactExtractor:
    """Works through the owner's messages. A message is skipped only if it repeatedly cannot be processed even alone."""

    def __init__(
        self,
        facts: StoredFacts,
        goals: StoredGoals,
        work: StoredWork,
        budget: BackgroundBudget,
        clock: Clock,
        made: Made = lambda *_: None,
    ) -> None:
        """`made` is called with new facts, including goals as facts."""
        self._facts = facts
        self._goals = goals
        self._work = work
        self._budget = budget
        self._clock = clock
        self._made = made
        self._at_once = AT_ONCE
        self._failures = 0

    async def step(self, model: BackgroundModel) -> float | None:
        """Process the next messages. Returns 0 if there may be more, the seconds until there will be more, or None.

        Raises WorkPaused, StoreErrors.
        """
        said = await self._work.words(await self._work.place(FACTS), self._at_once)
        if not said:
            return None
        quiet = self._clock.now().timestamp() - said[-1].at
        # notes of one moment are stored a microsecond apart, so the last may be slightly ahead of the clock
        if len(said) < AT_ONCE <= self._at_once and abs(quiet) < QUIET_SECONDS:
            return QUIET_SECONDS - quiet
        await self._read(model, _short(said))
        return 0.0

    async def _read(self, model: BackgroundModel, items: Sequence[MemoryItem]) -> None:
        scope, upto = items[0].scope, items[-1].seq
        known = choose_known(await self._facts.known(scope), items)
        wanted = [
            goal for goal in await self._goals.goals(scope) if goal.state is GoalState.OPEN and goal.label.trusted
        ]
        wanted = wanted[:_MAX_GOALS]
        answer = await self._budget.ask(model, FACTS, INSTRUCTIONS, question(known, items, wanted), _MAX_ANSWER)
        proposals = read_answer(answer, known, items, wanted)
        if proposals is None:
            self._failures += 1
            if len(items) > 1 or self._failures < _TRIES:
                self._at_once = max(1, len(items) // 2)
                self._budget.waits = WorkPaused(
                    "answer", translatable("the model's last answer was not usable; Hob tries again")
                )
                raise self._budget.waits
        self._at_once, self._failures = AT_ONCE, 0
        decisions = [partial(decide, each) for each in proposals or () if each.decision not in GOALS]
        moves = [decide_goal(each, wanted) for each in proposals or () if each.decision in GOALS]
        change, work = new_event_id(), (FACTS, "", upto)
        wanted_moves = [each for each in moves if each is not None]
        made = await self._facts.change(scope, decisions, change, work, wanted_moves, items)
        if made:
            self._made(scope, made)


def _short(items: Sequence[MemoryItem]) -> Sequence[MemoryItem]:
    """Return the leading items that together stay within the length limit."""
    left = _MAX_CHARACTERS
    for place, item in enumerate(items):
        left -= len(item.text)
        if left < 0 and place:
            return items[:place]
    return items
