"""How each model is told to think: data by name.

Facts: https://developers.openai.com/api/docs/guides/reasoning and the models' own pages there. Models that do not
reason refuse to be asked for it; the others each know some of the levels.
"""

import re
from collections.abc import Mapping

from hob.core.models import Thinking

_LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh")
_WORDS: Mapping[Thinking, str] = {level: level.value for level in Thinking} | {Thinking.OFF: "none"}

# The first that fits counts; names are in lower case. None: the model does not reason.
_EFFORTS: tuple[tuple[re.Pattern[str], tuple[str, ...] | None], ...] = tuple(
    (re.compile(pattern), None if levels is None else tuple(levels.split()))
    for pattern, levels in (
        (r"gpt-[34]|chatgpt-|gpt-5[^/]*-chat", None),
        (r"gpt-6-astra|gpt-6\.1-sol", "low medium high xhigh"),
        (r"gpt-6-(?:sol|luna)|gpt-6\.1-terra", "none low medium high xhigh"),
        (r"gpt-5-pro", "high"),
        (r"gpt-5\.\d-pro", "medium high xhigh"),
        (r"gpt-5-codex|gpt-5\.1-codex(?!-max)|codex-mini", "low medium high"),
        (r"gpt-5\.\d-codex", "low medium high xhigh"),
        (r"gpt-5\.1", "none low medium high"),
        (r"gpt-5\.", "none low medium high xhigh"),
        (r"gpt-5", "minimal low medium high"),
        (r"gpt-oss|(?:^|/)o\d", "low medium high"),
        (r"gpt-", "low medium high xhigh"),  # newer than this table
        (r"", "none low medium high"),  # others who speak this wire
    )
)


def efforts_of(model: str) -> tuple[str, ...] | None:
    """The levels the model knows, least first; None if it does not reason."""
    name = model.lower()
    return next(levels for pattern, levels in _EFFORTS if pattern.search(name))


def plan_reasoning(model: str, level: Thinking) -> Mapping[str, str]:
    """What the request says about reasoning. A level that the model lacks becomes the next higher one it has."""
    efforts = efforts_of(model) or _LEVELS
    wanted = _LEVELS.index(_WORDS[level])
    effort = next((each for each in efforts if _LEVELS.index(each) >= wanted), efforts[-1])
    return {"effort": effort} if effort == "none" else {"effort": effort, "summary": "auto"}
