"""Expertise per skill, scored from tool calls by KafClaw's formula."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.memory import is_private
from hob.core.turns import Turn
from hob.core.values import dataclass
from hob.memory.sections import OwnersSection
from hob.store.memory.expertise import SkillRecord, StoredExpertise, Use

_WORKED, _FAILED = 0.7, 0.2
"""Quality of a use that succeeded, and of one that failed."""
_MUCH = 100
_WINDOW = 10
_CHANGED = 0.1
_WEAK, _GOOD, _ENOUGH = 0.5, 0.8, 10
_DOMAINS = {
    "filesystem": ("read", "write", "edit", "apply_patch", "list_dir", "glob", "grep", "resolve_path"),
    "shell": ("exec", "process"),
    "memory": ("remember", "recall", "memory_", "update_working_memory", "facts", "correct_fact", "get_goals",
               "create_goal", "update_goal"),
    "research": ("web_", "browser"),
    "communication": ("message", "send_", "mail_", "sessions_send"),
    "day2day": ("day2day", "dtu", "dtp", "dts", "dtn", "dta", "dtc"),
}  # fmt: skip
"""Tool names by skill. A name that ends in `_` is a prefix."""
_HERALDED = ("browser", "message", "day2day")
_SUBAGENTS = {"completed": True, "failed": False, "timeout": False}


class Trend(StrEnum):
    """The last ten uses compared with the ten before."""

    IMPROVING = "improving"
    DECLINING = "declining"
    STABLE = "stable"


@dataclass(frozen=True, slots=True)
class Expertise:
    """Score of a skill, from 0 to 1: `0.6 * success rate + 0.3 * mean quality of the last 50 + 0.1 * experience`."""

    skill: str
    score: float
    trend: Trend
    uses: int
    successes: int
    failures: int
    last_used: float

    def view(self) -> dict[str, Any]:
        """Return the values under KafClaw's field names."""
        return {
            "skill": self.skill, "score": round(self.score, 3), "trend": self.trend.value, "uses": self.uses,
            "successes": self.successes, "failures": self.failures, "last_used": self.last_used,
        }  # fmt: skip


def skill_of(tool: str) -> str:
    """Return the skill a tool belongs to."""
    for skill, names in _DOMAINS.items():
        for name in names:
            if tool == name or ((name.endswith("_") or name in _HERALDED) and tool.startswith(name)):
                return skill
    return "general"


def use_of(event: TimelineEvent) -> Use | None:
    """Return the use of a skill that an event records: a finished tool call or sub-agent. None for other events, and in
    private sessions.
    """
    if event.session is not None and is_private(event.session):
        return None
    if event.kind is EventKind.SUBAGENT:
        worked = _SUBAGENTS.get(event.name)
        return None if worked is None else Use("delegation", worked)
    if event.status not in ("ok", "error", "timeout", "failed"):
        return None  # the call did not run, or is waiting
    return Use(skill_of(event.name), event.status == "ok")


def rated(record: SkillRecord) -> Expertise:
    """Score a skill from its record."""
    uses = record.successes + record.failures
    qualities = [_WORKED if worked else _FAILED for worked in record.recent]
    score = 0.6 * record.successes / max(1, uses) + 0.3 * _mean(qualities)
    score += 0.1 * min(1.0, uses / _MUCH)
    return Expertise(record.skill, score, _trend(qualities), uses, record.successes, record.failures, record.last_used)


def _mean(qualities: Sequence[float]) -> float:
    return sum(qualities) / max(1, len(qualities))  # `statistics` would load `decimal` and `fractions`


def _trend(qualities: Sequence[float]) -> Trend:
    last, before = qualities[-_WINDOW:], qualities[-2 * _WINDOW : -_WINDOW]
    change = _mean(last) - _mean(before) if before else 0.0
    return Trend.IMPROVING if change > _CHANGED else Trend.DECLINING if change < -_CHANGED else Trend.STABLE


class ExpertiseKeeper:
    """Keeps the scores of all skills, which are counted on demand and during background work.

    Implements the tools' `ToolRatings`.
    """

    def __init__(self, stored: StoredExpertise) -> None:
        self._stored = stored
        self.known: Sequence[Expertise] | None = None
        """Scores by skill; None until they have been counted."""

    async def count(self) -> Sequence[Expertise]:
        """Count the uses of all skills so far. Raises StoreErrors."""
        self.known = known = [rated(record) for record in await self._stored.count(use_of)]
        return known

    def rating(self, tool: str) -> float:
        """Return the last counted score of the tool's skill, or 1 if too little is known."""
        skill = skill_of(tool)
        known = next((each for each in self.known or () if each.skill == skill), None)
        return 1.0 if known is None or known.uses < _ENOUGH else min(1.0, known.score / _GOOD)


class ExpertiseSection(OwnersSection):
    """Prompt section that names skills with poor results, so that the model takes another way or checks the outcome."""

    name = "expertise"

    def __init__(self, keeper: ExpertiseKeeper, is_owners: Callable[[Turn], bool]) -> None:
        super().__init__(is_owners)
        self._keeper = keeper

    async def _text(self) -> str:
        known = await self._keeper.count() if self._keeper.known is None else self._keeper.known
        weak = [each for each in known if each.uses >= _ENOUGH and each.score < _WEAK]
        told = ", ".join(f"{each.skill} {each.score:.2f} ({each.trend})" for each in weak)
        lesson = f"Tools that mostly failed of late: {told}. Prefer other ways, and check what they give."
        return lesson if weak else ""
