"""Prompt sections written by memory."""

import math
from collections.abc import Callable

from hob.core.clock import Clock, utc_day
from hob.core.errors import StoreError
from hob.core.memory import OWNER, FactState, GoalState, MemoryItem, Scope, is_private
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


class ProfileSection:
    """The core profile: what owners have said about themselves. Only in the owner's own prompts.

    A session keeps the profile it started with, so that the provider's cache stays valid. Changes show after a
    compaction, after an hour without a prompt (caches do not live longer), and at once if something was corrected or
    forgotten.
    """

    name = "core profile"
    cached = True

    def __init__(self, facts: StoredFacts, is_owners: Callable[[Turn], bool], clock: Clock) -> None:
        self._facts = facts
        self._is_owners = is_owners
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

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the lines, or nothing."""
        if not self._is_owners(turn):
            return None
        try:
            known = await self._facts.known(_OWNER)
        except StoreError:
            return None
        sure = [fact for fact in known if fact.valid_to is None and fact.state is not FactState.ASKED]
        sure.sort(key=lambda fact: (fact.subject != OWNER, not is_single(fact.predicate), -fact.confidence, fact.id))
        lines, left = list[str](), _MAX_PROFILE
        for fact in sure:
            line = f"- {render_fact(fact.subject, fact.predicate, fact.object)}".replace("<", "(")
            left -= len(line) + 1
            if left < 0:
                break
            lines.append(line)
        return ("\n".join(["# What the owner said of themselves", "", *lines]), HOB_LABEL) if lines else None


class PrivateSection:
    """Tells the model that a private conversation is not remembered."""

    name = "private conversation"
    cached = True
    epoch = 0

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the line, or nothing."""
        return (_PRIVATE, HOB_LABEL) if is_private(turn.session) else None


class ObservationsSection:
    """Observations by date, chosen by importance. Only in the owner's own prompts."""

    name = "observations"
    cached = False
    epoch = 0

    def __init__(
        self, work: StoredWork, is_owners: Callable[[Turn], bool], overflowed: Callable[[str], None] = lambda _: None
    ) -> None:
        """`overflowed` is called if not all observations fit."""
        self._work = work
        self._is_owners = is_owners
        self._overflowed = overflowed

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the lines, or nothing."""
        if not self._is_owners(turn):
            return None
        try:
            known = await self._work.observations(_OWNER)
        except StoreError:
            return None
        lines = chosen(known)
        if len(lines) < len(known):
            self._overflowed("observation")
        return ("\n".join(["Observations:", *lines]), HOB_LABEL) if lines else None


class GoalsSection:
    """The owner's goals, in order of their due dates. Only in the owner's own prompts."""

    name = "goals"
    cached = False
    epoch = 0

    def __init__(self, goals: StoredGoals, is_owners: Callable[[Turn], bool], clock: Clock) -> None:
        self._goals = goals
        self._is_owners = is_owners
        self._clock = clock

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the lines, or nothing."""
        if not self._is_owners(turn):
            return None
        try:
            known = await self._goals.goals(_OWNER)
        except StoreError:
            return None
        now, left, lines = self._clock.now().timestamp(), _MAX_GOALS, list[str]()
        for goal in known:
            if goal.state is not GoalState.OPEN or not goal.label.trusted:
                continue
            due = f" (due {utc_day(goal.due)})" if goal.due is not None else ""
            stalled = f" ({GoalState.STALLED})" if goal.state_at(now) is GoalState.STALLED else ""
            line = f"- {' '.join(goal.text.split())[:_LONGEST]}{due}{stalled}".replace("<", "(")
            left -= len(line)
            if left < 0:
                break
            lines.append(line)
        return ("\n".join(["The owner's goals:", *lines]), HOB_LABEL) if lines else None


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
