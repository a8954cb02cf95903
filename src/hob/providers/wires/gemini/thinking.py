"""How each model is told to think: data by name.

Gemini 2.5 takes a budget of tokens, later ones a level. Tokens of thinking count towards the limit of the answer.
Facts: https://ai.google.dev/gemini-api/docs/thinking and the servers' own words for a level they do not know.
"""

import re
from dataclasses import dataclass
from typing import Any

from hob.core.models import THINKING_ROOM, UNCHOSEN_ROOM, Thinking

_MOST_BUDGET = 24_576
_MOST_TOKENS = 65_536


@dataclass(frozen=True, slots=True)
class _Way:
    """How one family thinks: with at least so many tokens where it cannot be turned off, or with one of these levels.

    Neither: it does not think, or is not told how.
    """

    least_budget: int | None = None
    levels: tuple[str, ...] = ()


_FULL = _Way(levels=("minimal", "low", "medium", "high"))
_NO_MINIMAL = _Way(levels=("low", "medium", "high"))
_TWO = _Way(levels=("low", "high"))
# The first that fits counts.
_WAYS: tuple[tuple[re.Pattern[str], _Way], ...] = tuple(
    (re.compile(pattern), way)
    for pattern, way in (
        (r"-(?:image|tts|audio|live|embedding|computer-use)\b", _Way()),
        (r"gemini-2\.5-pro", _Way(least_budget=128)),
        (r"gemini-2\.5-flash", _Way(least_budget=0)),
        (r"gemini-3-pro", _TWO),
        (r"gemini-(?:3-flash|3\.[15]-flash)", _FULL),
        (r"gemini-(?:3\.1-pro|3\.7-flash)", _NO_MINIMAL),
        (r"gemini-(?:[3-9]|\d\d|flash|pro)", _TWO),  # newer than this table, or an alias of the newest
        (r"", _Way()),
    )
)


def plan_thinking(model: str, level: Thinking | None, max_tokens: int) -> dict[str, Any]:
    """The part of `generationConfig` that tells this model to think so.

    `max_tokens` is for the answer alone: thinking gets its room besides.
    """
    way = next(way for pattern, way in _WAYS if pattern.search(model.lower()))
    if way.least_budget is None and not way.levels:
        return {"maxOutputTokens": max_tokens}
    if level is None:  # it thinks as much as it likes
        return {"maxOutputTokens": max(max_tokens, min(max_tokens + UNCHOSEN_ROOM, _MOST_TOKENS))}
    if way.least_budget is not None:
        chosen: dict[str, Any] = {"thinkingBudget": min(max(way.least_budget, THINKING_ROOM[level]), _MOST_BUDGET)}
    else:
        chosen = {"thinkingLevel": _level(level, way.levels)}
    total = max(max_tokens, min(max_tokens + THINKING_ROOM[level], _MOST_TOKENS))
    return {"maxOutputTokens": total, "thinkingConfig": {**chosen, "includeThoughts": level is not Thinking.OFF}}


def signs_calls(model: str) -> bool:
    """Whether the model refuses calls of the running turn that bear no signature."""
    return not re.search(r"gemini-[12]|gemma", model.lower())


def _level(level: Thinking, levels: tuple[str, ...]) -> str:
    """The level, or the next higher one that the model knows."""
    scale = ("minimal", "low", "medium", "high")
    wanted = {Thinking.OFF: "minimal", Thinking.XHIGH: "high"}.get(level, str(level))
    return next(name for name in scale[scale.index(wanted) :] if name in levels)
