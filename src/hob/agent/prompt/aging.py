"""Untrusted text grows old: it is shown whole for a few turns and then only named, so that a session comes clean.

A turn is old once more than `taint_turns` turns or `taint_minutes` minutes lie after it. Turning text into a stub
changes the prompt from there on, so it is done in steps: turns in groups of `taint_turns`, minutes in thirds of
`taint_minutes`. Text may therefore stay a little longer than the limits say, never shorter; while it stays it taints,
which is the safe side. Within one turn nothing grows old.

Where the message being answered is itself untrusted (a member's, a stranger's), nothing is hidden: the context is
tainted anyway, and hiding what was said would only make Hob forget who it talks to.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hob.agent.settings import AgentSettings
from hob.core.labels import HOB_LABEL
from hob.core.models import Entry


def age(entries: Sequence[Entry], now: float, settings: AgentSettings) -> list[Entry]:
    """The paired entries, old untrusted ones as stubs. `now` is when the turn began, in Unix seconds."""
    fresh = _first_fresh(entries, now, settings)
    aged: list[Entry] = []
    dropping = False
    for place, entry in enumerate(entries):
        if dropping and entry.role == "tool":
            continue
        dropping = False
        if place >= fresh or entry.label.trusted:
            aged.append(entry)
        else:
            # A model's arguments are as untrusted as its words, so a round goes with all its results.
            dropping = entry.role == "assistant"
            aged.append(replace(entry, text=_stub(entry), label=HOB_LABEL, calls=(), images=()))
    return aged


def _first_fresh(entries: Sequence[Entry], now: float, settings: AgentSettings) -> int:
    """The place from which on everything is shown whole."""
    starts = [place for place, entry in enumerate(entries) if place == 0 or entry.turn != entries[place - 1].turn]
    step = max(1, settings.taint_turns)
    old = max(0, len(starts) - settings.taint_turns) // step * step
    third = settings.taint_minutes * 20
    if third > 0:
        limit = (now - settings.taint_minutes * 60) // third * third
        while old < len(starts) and entries[starts[old]].at < limit:
            old += 1
    else:
        old = len(starts)
    return starts[old] if old < len(starts) else len(entries)


def _stub(entry: Entry) -> str:
    day = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d")
    own = entry.role == "assistant"
    what = "own reply made from untrusted text" if own else f"untrusted text ({entry.label.origin})"
    return f"[#{entry.n}, {day}: {what}, {len(entry.text)} characters, no longer shown]"
