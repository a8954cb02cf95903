"""Prompt sections written by memory."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from hob.core.clock import Clock, utc_day
from hob.core.errors import StoreError
from hob.core.memory import OWNER, FactState, Goal, GoalState, MemoryItem, Scope, is_private
from hob.core.translation.fact_words import render_fact
from hob.core.trust.labels import HOB_LABEL, Label
from hob.core.turns import Turn
from hob.memory.facts.decisions import is_single
from hob.memory.observations.lines import HIGH
from hob.store.memory.facts import StoredFacts
from hob.store.memory.goals import StoredGoals
from hob.store.memory.work import StoredWork

_MAX_CHARACTERS = 1_500
_LONGEST = 200
_MAX_GOALS = 600
"""Maximum characters of the goals."""
_MAX_PROFILE = 800
"""Maximum characters of the profile."""
_CACHE_SECONDS = 3_600.0
_PRIVATE = "This conversation is private: nothing of it is remembered. Do not promise to keep any of it."
_OWNER = Scope(OWNER)


class OwnersSection(ABC):
    """A section that only the owner's own prompts have. By default it is written anew for each turn."""

    cached = False

    def __init__(self, is_owners: Callable[[Turn], bool]) -> None:
        self._is_owners = is_owners

    @property
    def epoch(self) -> int:
        """A constant, as each text belongs to one turn."""
        return 0

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the text, or nothing."""
        try:
            text = await self._text() if self._is_owners(turn) else ""
        except StoreError:
            return None
        return (text, HOB_LABEL) if text else None

    @abstractmethod
    async def _text(self) -> str:
        """Return the text, or an empty one. Raises StoreErrors."""


class ProfileSection(OwnersSection):
    """The core profile: what owners have said about themselves.

    A session keeps the profile it started with, so that the provider's cache stays valid. Changes show after a
    compaction, after an hour without a prompt (caches do not live longer), and at once if something was corrected or
    forgotten.
    """

    name = "core profile"
    cached = True

    def __init__(self, facts: StoredFacts, is_owners: Callable[[Turn], bool], clock: Clock) -> None:
        super().__init__(is_owners)
        self._facts = facts
        self._clock = clock
        self._epoch = 0
        self._asked = -math.inf

    @property
    def epoch(self) -> int:
        """Return a number that changes after an hour without a question."""
        now = self._clock.monotonic()
        if now - self._asked > _CACHE_SECONDS:
            self._epoch += 1
        self._asked = now
        return self._epoch

    def renew(self) -> None:
        """Drop the stored profiles, because part of them no longer holds."""
        self._epoch += 1

    async def _text(self) -> str:
        known = await self._facts.known(_OWNER)
        sure = [fact for fact in known if fact.valid_to is None and fact.state is not FactState.ASKED]
        sure.sort(key=lambda fact: (fact.subject != OWNER, not is_single(fact.predicate), -fact.confidence, fact.id))
        lines = (f"- {render_fact(fact.subject, fact.predicate, fact.object)}".replace("<", "(") for fact in sure)
        return _list("# What the owner said of themselves\n", lines, _MAX_PROFILE)


class PrivateSection:
    """Tells the model that a private conversation is not remembered."""

    name = "private conversation"
    cached = True
    epoch = 0

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the line, or nothing."""
        return (_PRIVATE, HOB_LABEL) if is_private(turn.session) else None


class ObservationsSection(OwnersSection):
    """Observations by date, chosen by importance."""

    name = "observations"

    def __init__(
        self, work: StoredWork, is_owners: Callable[[Turn], bool], overflowed: Callable[[str], None] = lambda _: None
    ) -> None:
        """`overflowed` is called if not all observations fit."""
        super().__init__(is_owners)
        self._work = work
        self._overflowed = overflowed

    async def _text(self) -> str:
        known = await self._work.observations(_OWNER)
        lines = chosen(known)
        if len(lines) < len(known):
            self._overflowed("observation")
        return _list("Observations:", lines)


class GoalsSection(OwnersSection):
    """The owner's goals, in order of their due dates."""

    name = "goals"

    def __init__(self, goals: StoredGoals, is_owners: Callable[[Turn], bool], clock: Clock) -> None:
        super().__init__(is_owners)
        self._goals = goals
        self._clock = clock

    async def _text(self) -> str:
        now = self._clock.now().timestamp()
        known = (
            goal for goal in await self._goals.goals(_OWNER) if goal.state is GoalState.OPEN and goal.label.trusted
        )
        return _list("The owner's goals:", (_goal_line(goal, now) for goal in known), _MAX_GOALS)


def _goal_line(goal: Goal, now: float) -> str:
    due = f" (due {utc_day(goal.due)})" if goal.due is not None else ""
    stalled = f" ({GoalState.STALLED})" if goal.state_at(now) is GoalState.STALLED else ""
    return f"- {' '.join(goal.text.split())[:_LONGEST]}{due}{stalled}".replace("<", "(")


def _list(title: str, lines: Iterable[str], maximum: float = math.inf) -> str:
    """Return the title and the first lines that fit into this many characters; nothing without a line."""
    fitting: list[str] = []
    for line in lines:
        maximum -= len(line) + 1
        if maximum < 0:
            break
        fitting.append(line)
    return "\n".join([title, *fitting]) if fitting else ""


def chosen(known: list[MemoryItem]) -> list[str]:
    """Choose the lines that fit, by priority and then the newest, and order them by date."""
    left, some = _MAX_CHARACTERS, []
    for item in sorted(known, key=lambda item: (item.kind != HIGH, -item.at)):
        left -= min(len(item.text), _LONGEST) + 24
        if left < 0:
            break
        some.append(item)
    some.sort(key=lambda item: (-(item.at // 86_400), -item.importance))
    return [
        f"- {utc_day(item.at)} [{item.kind.upper()}] {' '.join(item.text.replace('<', '(').split())[:_LONGEST]}"
        for item in some
    ]
