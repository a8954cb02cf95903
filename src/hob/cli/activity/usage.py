"""`hob usage`: costs, and what is left of each limit."""

import shutil
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from hob.app.daemon.daemon_client import reach
from hob.cli.dates_and_figures import number
from hob.cli.output import line, paint, printed_json, session_name
from hob.cli.translating import _, ngettext
from hob.core.money import MICRO, price
from hob.core.translation.language import translatable

LABELS = ("day", "model", "sender", "tool")
"""Titles of the first column."""
TITLES: Mapping[str, str] = {"session": translatable("conversation"), "task": translatable("purpose")}
"""Purposes whose code needs a title for people."""
LIMIT_WORDS: Mapping[str, str] = {"daily": translatable("daily limit"), "monthly": translatable("monthly limit")}
"""Limits, by the end of their settings' names."""
_MAX_KEY = 44
_MAX_BAR = 30
_FEWEST = 4
_NEARLY = 0.8


def usage(
    *,
    days: int = 30,
    by: Literal["day", "model", "session", "sender", "task", "tool"] = "day",
    json: bool = False,
) -> None:
    """Show what was spent, on what, and what is left.

    Parameters
    ----------
    days:
        Number of days, including today.
    by:
        Group by day, model, session, sender (owner, member, stranger), task (chat, summary, ...) or tool (model
        calls that read its results).
    json:
        Print JSON.
    """
    query = {"days": str(days), "by": by}
    seen = reach("GET", "/usage", query)
    if printed_json(seen, json):
        return
    total = seen["total"]
    cost = paint(_usd(total["cost_usd"]), "bold")
    print(ngettext("Spent today: {cost}", "Spent in {count} days: {cost}", days, cost=cost))
    if calls := total["unknown_calls"]:
        print(
            ngettext(
                "and {count} call of unknown price, which no limit counts",
                "and {count} calls of unknown price, which no limit counts",
                calls,
            )
        )
    if total["calls"]:
        print()
        _show_rows(by, seen["rows"], total)
    if seen["limits"]:
        print()
        _show_limits(seen["limits"])


def _show_rows(by: str, rows: list[Mapping[str, Any]], total: Mapping[str, Any]) -> None:
    """Print the table without its empty columns."""
    columns = {_("dollars"): [_usd(row["cost_usd"]) for row in rows]}
    if total["held_usd"]:
        columns[_("reserved")] = [_usd(row["held_usd"]) for row in rows]
    columns[_("calls")] = [str(row["calls"]) for row in rows]
    if total["unknown_calls"]:
        columns[_("unknown")] = [str(row["unknown_calls"] or "") for row in rows]
    columns[_("tokens in")] = [number(row["input_tokens"], 0) for row in rows]
    if total["cached_tokens"]:
        columns[_("cached")] = [_percent(row["cached_tokens"], row["input_tokens"]) for row in rows]
    columns[_("tokens out")] = [number(row["output_tokens"], 0) for row in rows]
    empty = _("calls that read no tool's result") if by == "tool" else "-"
    name = partial(session_name if by == "session" else line, width=_MAX_KEY)
    keys = [name(row["key"]) or empty for row in rows]
    widths = {name: max(len(name), *map(len, cells)) for name, cells in columns.items()}
    title = _(TITLES.get(by, by))
    width = max(len(title), *map(len, keys))
    room = _bar_width(width + sum(widths.values()) + 2 * len(widths) + 2)
    head = "".join(f"  {name.rjust(widths[name])}" for name in columns)
    print(paint(title.ljust(width + (room + 2 if room else 0)) + head, "dim"))
    maximum = max(row["cost_usd"] for row in rows)
    for place, (key, row) in enumerate(zip(keys, rows, strict=True)):
        bar = _bar(row["cost_usd"] / maximum if maximum else 0.0, room, "cyan")
        print(
            key.ljust(width) + bar + "".join(f"  {cells[place].rjust(widths[name])}" for name, cells in columns.items())
        )


def _show_limits(limits: list[Mapping[str, Any]]) -> None:
    keys = [f"{_(LIMIT_WORDS[limit['key'].rpartition('.')[2]])} ({line(limit['key'], _MAX_KEY)})" for limit in limits]
    texts = [_left(limit) for limit in limits]
    width = max(map(len, keys))
    room = _bar_width(width + max(map(len, texts)) + 4)
    for key, text, limit in zip(keys, texts, limits, strict=True):
        used = limit["spent_usd"] + limit["held_usd"]
        part = min(1.0, used / limit["limit_usd"]) if limit["limit_usd"] else 1.0
        colour = "red" if part >= 1 else "yellow" if part >= _NEARLY else "green"
        print(f"{key.ljust(width)}{_bar(part, room, colour, rest=True)}  {text}")


def _left(limit: Mapping[str, Any]) -> str:
    held = _(", {cost} reserved", cost=_usd(limit["held_usd"])) if limit["held_usd"] else ""
    return _("{left} of {limit} left{held}", left=_usd(limit["left_usd"]), limit=_usd(limit["limit_usd"]), held=held)


def _percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)}%" if whole else ""


def _usd(amount: float) -> str:
    return _(price(round(amount * MICRO)))


def _bar_width(used: int) -> int:
    """Return the maximum width of bars beside this many columns; 0 if the output is not a terminal."""
    left = min(_MAX_BAR, shutil.get_terminal_size().columns - used) if sys.stdout.isatty() else 0
    return left if left >= _FEWEST else 0


def _bar(part: float, room: int, colour: str, *, rest: bool = False) -> str:
    """Return a gap and a bar; empty without room."""
    if not room:
        return ""
    full, empty = ("█", "░") if (sys.stdout.encoding or "").lower().startswith("utf") else ("#", ".")
    length = max(1, round(part * room)) if part > 0 else 0
    return f"  {paint(full * length, colour)}{paint((empty if rest else ' ') * (room - length), 'dim')}"
