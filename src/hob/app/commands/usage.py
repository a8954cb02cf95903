"""`hob usage`: what was spent, on what, and how much of each limit is left."""

import shutil
import sys
from collections.abc import Mapping
from typing import Any, Literal

from hob.app.commands.output import line, paint, print_json
from hob.app.reaching import reach
from hob.config import find_home, process_environment

_MOST_KEY = 44
_MOST_BAR = 30
_FEWEST = 8


def usage(
    *,
    days: int = 30,
    by: Literal["day", "model", "session", "sender", "task"] = "day",
    json: bool = False,
) -> int:
    """What was spent, on what, and what is left.

    Parameters
    ----------
    days:
        How many days, today included.
    by:
        What to tell apart: day, model, session, sender (owner, member, stranger) or task (chat, summary, ...).
    json:
        Print JSON.
    """
    home = find_home(process_environment())
    query = {"days": str(days), "by": by}
    seen = reach(home, "GET", "/usage", query, lambda app: app.desk.usage(days, by))
    if json:
        print_json(seen)
        return 0
    print(f"Spent in {'one day' if days == 1 else f'{days} days'}: {paint(_sums(seen['total']), 'bold')}")
    if seen["total"]["calls"]:
        print()
        _show_rows(seen["rows"])
    if seen["limits"]:
        print()
        _show_limits(seen["limits"])
    return 0


def _show_rows(rows: list[Mapping[str, Any]]) -> None:
    keys = [line(row["key"], _MOST_KEY) or "-" for row in rows]
    width = max(map(len, keys))
    most = max(row["cost_usd"] for row in rows)
    texts = [_sums(row) for row in rows]
    room = _room(width + max(map(len, texts)) + 6)
    for key, row, text in zip(keys, rows, texts, strict=True):
        bar = _bar(row["cost_usd"] / most if most else 0.0, room, "cyan")
        print(f"  {key.ljust(width)}  {bar}{text}")


def _show_limits(limits: list[Mapping[str, Any]]) -> None:
    width = max(len(line(limit["key"], _MOST_KEY)) for limit in limits)
    room = _room(width + 50)
    for limit in limits:
        used = limit["spent_usd"] + limit["held_usd"]
        part = min(1.0, used / limit["limit_usd"]) if limit["limit_usd"] else 1.0
        colour = "red" if part >= 1 else "yellow" if part >= 0.8 else "green"
        held = f" and {_usd(limit['held_usd'])} held back" if limit["held_usd"] else ""
        text = f"{_usd(limit['spent_usd'])}{held} of {_usd(limit['limit_usd'])}, {_usd(limit['left_usd'])} left"
        print(f"  {line(limit['key'], _MOST_KEY).ljust(width)}  {_bar(part, room, colour, rest=True)}{text}")


def _sums(row: Mapping[str, Any]) -> str:
    unknown = f" ({row['unknown_calls']} of unknown price)" if row["unknown_calls"] else ""
    held = f" + {_usd(row['held_usd'])} held back" if row["held_usd"] else ""
    cached = f" ({round(100 * row['cached_tokens'] / row['input_tokens'])} % cached)" if row["cached_tokens"] else ""
    calls = "1 call" if row["calls"] == 1 else f"{row['calls']} calls"
    tokens = f"{_count(row['input_tokens'])} in{cached}, {_count(row['output_tokens'])} out"
    return f"{_usd(row['cost_usd'])}{held}  {calls}{unknown}  {tokens}"


def _usd(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 0.1 or amount == 0 else f"${amount:.4f}"


def _count(tokens: int) -> str:
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if tokens >= size:
            return f"{tokens / size:.1f}{unit}"
    return str(tokens)


def _room(used: int) -> int:
    """How wide bars may be beside texts of this width; none where nobody looks at them."""
    left = min(_MOST_BAR, shutil.get_terminal_size().columns - used) if sys.stdout.isatty() else 0
    return left if left >= _FEWEST else 0


def _bar(part: float, room: int, colour: str, *, rest: bool = False) -> str:
    """The bar and a gap after it; empty where there is no room."""
    if not room:
        return ""
    full, empty = ("█", "░") if (sys.stdout.encoding or "").lower().startswith("utf") else ("#", ".")
    length = max(1, round(part * room)) if part > 0 else 0
    return f"{paint(full * length, colour)}{paint((empty if rest else ' ') * (room - length), 'dim')}  "
