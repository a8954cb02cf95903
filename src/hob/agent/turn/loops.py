"""Detect a model that repeats itself. Pure rules over its calls and their results.

A first finding warns, a critical one refuses the call and gives the model one more attempt, the next critical one ends
the turn. A call is compared by tool and arguments, ignoring key order; a result ignoring ids and times.
"""

import json
import re
from collections.abc import Sequence
from enum import StrEnum

from hob.core.content.json_text import parse_json
from hob.core.ids import digest
from hob.core.tools import ToolCall
from hob.core.values import dataclass

MAX_HISTORY = 64
"""Number of recent calls that are compared."""

_MIN_PING_PONG = 4  # two different calls are not yet a pattern

_VOLATILE = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"  # UUID
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"  # ISO date and time
    r"|\b[0-9a-f]{12,}\b"  # hashes, object ids
    r"|\b\d{10,}(?:\.\d+)?\b"  # Unix times
    r"|\b\d+(?:\.\d+)?\s?m?s\b"  # durations
)


class Level(StrEnum):
    """Severity of a loop."""

    WARNING = "warning"
    CRITICAL = "critical"
    BREAKER = "breaker"


@dataclass(frozen=True, slots=True)
class LoopRules:
    """Number of repetitions for each level."""

    warning: int = 10
    critical: int = 20
    breaker: int = 30


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call that was made, and its result."""

    name: str
    signature: str
    outcome: str
    unknown: bool = False
    poll: bool = False


@dataclass(frozen=True, slots=True)
class LoopFinding:
    """A loop. `about` identifies it, so that the model is warned once about each."""

    detector: str
    level: Level
    name: str
    count: int
    about: str


def seen(call: ToolCall, outcome: str, *, unknown: bool = False) -> SeenCall:
    """Return the parts of a call and its result that the detectors compare."""
    return SeenCall(call.name, signature_of(call), digest(_VOLATILE.sub("#", outcome))[:16], unknown, _is_poll(call))


def signature_of(call: ToolCall) -> str:
    """Return a hash of tool and arguments, independent of key order."""
    arguments = parse_json(call.arguments)
    plain = call.arguments if arguments is None else json.dumps(arguments, sort_keys=True)
    return digest(f"{call.name}\n{plain}")[:16]


def find_loop(history: Sequence[SeenCall], name: str, signature: str, rules: LoopRules) -> LoopFinding | None:
    """Return the worst finding about this call, given the calls before it."""
    if not history:
        return None
    stuck = _count_without_progress(history)
    if stuck >= rules.breaker:
        return LoopFinding("no_progress", Level.BREAKER, name, stuck, "no_progress")
    return (
        _find_unknown_tool(history, name, rules)
        or _find_ping_pong(history, signature, name, rules)
        or _find_repeat(history, signature, name, rules)
    )


def _find_repeat(history: Sequence[SeenCall], signature: str, name: str, rules: LoopRules) -> LoopFinding | None:
    same = [item for item in history if item.signature == signature]
    if not same:
        return None
    unchanged = _count_unchanged(same)
    poll = same[-1].poll
    detector = "known_poll_no_progress" if poll else "generic_repeat"
    about = f"{detector}:{signature}"
    if unchanged >= rules.critical:
        return LoopFinding(detector, Level.CRITICAL, name, unchanged, about)
    count = unchanged if poll else len(same)  # polling is fine as long as something changes
    return LoopFinding(detector, Level.WARNING, name, count, about) if count >= rules.warning else None


def _count_unchanged(same: Sequence[SeenCall]) -> int:
    count = 0
    for item in reversed(same):
        if item.outcome != same[-1].outcome:
            break
        count += 1
    return count


def _find_ping_pong(history: Sequence[SeenCall], signature: str, name: str, rules: LoopRules) -> LoopFinding | None:
    if len(history) < 2 or history[-1].signature == history[-2].signature:
        return None
    pair = (history[-1], history[-2])
    if signature not in (pair[0].signature, pair[1].signature):
        return None
    count = 0
    for n, item in enumerate(reversed(history)):
        if item.signature != pair[n % 2].signature or item.outcome != pair[n % 2].outcome:
            break
        count += 1
    if count < _MIN_PING_PONG:
        return None
    about = "ping_pong:" + ":".join(sorted(item.signature for item in pair))
    if count >= rules.critical:
        return LoopFinding("ping_pong", Level.CRITICAL, name, count, about)
    return LoopFinding("ping_pong", Level.WARNING, name, count, about) if count >= rules.warning else None


def _find_unknown_tool(history: Sequence[SeenCall], name: str, rules: LoopRules) -> LoopFinding | None:
    count = sum(item.unknown for item in history if item.name == name)
    if count < rules.warning:
        return None
    return LoopFinding("unknown_tool", Level.CRITICAL, name, count, f"unknown_tool:{name}")


def _count_without_progress(history: Sequence[SeenCall]) -> int:
    """Count the calls at the end that only repeated an earlier call and its result."""
    known: set[tuple[str, str]] = set()
    count = 0
    for item in history:
        pair = (item.signature, item.outcome)
        count = count + 1 if pair in known else 0
        known.add(pair)
    return count


def _is_poll(call: ToolCall) -> bool:
    if call.name == "command_status":
        return True
    if call.name != "process":
        return False
    arguments = parse_json(call.arguments)
    return isinstance(arguments, dict) and arguments.get("action") in ("poll", "log")
