"""How each model is told to think, and how much it may write: data by name.

Older models take a budget of tokens, newer ones decide themselves (`adaptive`) and take an effort; some think unless
told otherwise, some always do. Facts: https://platform.claude.com/docs/en/build-with-claude/thinking,
.../build-with-claude/effort, .../about-claude/models/overview and the migration guides of the models.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hob.core.models import THINKING_ROOM, UNCHOSEN_ROOM, Thinking

_LEAST_BUDGET = 1_024

_EFFORT: Mapping[Thinking, str] = {
    Thinking.OFF: "low",  # the least of those who cannot be told not to think
    Thinking.MINIMAL: "low",
    Thinking.LOW: "low",
    Thinking.MEDIUM: "medium",
    Thinking.HIGH: "high",
    Thinking.XHIGH: "xhigh",
}
_EFFORT_4_6 = {**_EFFORT, Thinking.XHIGH: "max"}


@dataclass(frozen=True, slots=True)
class _Way:
    """How one family thinks. `effort` is set for those who decide themselves; `off` is what turns thinking off: a
    type of `thinking`, empty where it is off unless asked for, None where it cannot be.
    """

    most_tokens: int | None = None
    budget: bool = False
    effort: Mapping[Thinking, str] | None = None
    off: str | None = ""


# The first that fits counts; names are in lower case, with - for each dot.
_WAYS: tuple[tuple[re.Pattern[str], _Way], ...] = tuple(
    (re.compile(pattern), way)
    for pattern, way in (
        (r"claude-(?:fable|mythos)-", _Way(128_000, effort=_EFFORT, off=None)),
        (r"claude-opus-5-5\b", _Way(128_000, effort=_EFFORT, off=None)),
        (r"claude-sonnet-5-5\b", _Way(128_000, effort=_EFFORT, off="between_tools")),
        (r"claude-(?:opus-5|sonnet-5|haiku-5-5)\b(?!-\d\b)", _Way(128_000, effort=_EFFORT, off="disabled")),
        (r"claude-opus-4-[78]\b", _Way(128_000, effort=_EFFORT)),
        (r"claude-(?:opus|sonnet)-4-6\b", _Way(64_000, effort=_EFFORT_4_6)),
        (r"claude-(?:opus-4-5|sonnet-4|haiku-4)\b", _Way(64_000, budget=True)),
        (r"claude-opus-4\b", _Way(32_000, budget=True)),
        (r"claude-3-7-", _Way(64_000, budget=True)),
        (r"claude-3-5-", _Way(8_192)),
        (r"claude-3-|claude-2", _Way(4_096)),
        (r"claude-", _Way(effort=_EFFORT, off=None)),  # newer than this table
        (r"", _Way(budget=True, off="disabled")),  # others who speak this wire
    )
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request says about thinking. `budget` asks a tool loop to begin with the thinking that led to it."""

    max_tokens: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    budget: bool = False
    off: bool = False


def plan_thinking(model: str, level: Thinking | None, max_tokens: int) -> Plan:
    """How this model is told to think so. `max_tokens` is for the answer alone: thinking gets its room besides."""
    name = model.lower().replace(".", "-")
    way = next(way for pattern, way in _WAYS if pattern.search(name))
    most = way.most_tokens or 10**9
    if level is None and way.effort:  # these may think without being told to
        return Plan(min(max_tokens + UNCHOSEN_ROOM, most))
    if level is None or not (way.budget or way.effort):
        return Plan(min(max_tokens, most))
    if level is Thinking.OFF and way.off is not None:
        return Plan(min(max_tokens, most), {"thinking": {"type": way.off}} if way.off else {}, off=True)
    total = min(max_tokens + THINKING_ROOM[level], most)
    if way.effort:
        thinking = {"type": "adaptive", "display": "summarized"}
        return Plan(total, {"thinking": thinking, "output_config": {"effort": way.effort[level]}})
    budget = min(THINKING_ROOM[level], total - _LEAST_BUDGET)
    if budget < _LEAST_BUDGET:
        return Plan(total)
    return Plan(total, {"thinking": {"type": "enabled", "budget_tokens": budget}}, budget=True)
