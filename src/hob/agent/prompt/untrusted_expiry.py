"""Expiry of untrusted text: shown in full for a few turns, then replaced by a stub, so that a session becomes trusted.

A turn has expired once more than `taint_turns` turns or `taint_minutes` minutes follow it. Replacing text changes the
prompt from there on, so it happens in steps: turns in groups of `taint_turns`, minutes in thirds of `taint_minutes`.
Text may therefore stay a little longer than the limits, never shorter; while it stays it taints, which is safe. Nothing
expires within a turn.

A stub is written by Hob: where the text came from, when, how long it is, and the number by which it can be read back
(`hob.agent.prompt.read_back`), which taints again.

If the message being answered is itself untrusted (a member's, a stranger's), nothing is hidden: the context is tainted
anyway, and hiding would only make Hob forget whom it talks to.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hob.agent.prompt.specs import READ_BACK, THE_SUMMARY
from hob.agent.settings import AgentSettings
from hob.core.models import TranscriptEntry
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import Summary


def age(entries: Sequence[TranscriptEntry], now: float, settings: AgentSettings) -> list[TranscriptEntry]:
    """Replace old untrusted entries by stubs. `now` is when the turn began, in Unix seconds."""
    return hide(entries, _first_fresh(entries, now, settings))


def expire_summary(
    summary: Summary | None, since: Sequence[TranscriptEntry], now: float, settings: AgentSettings
) -> Summary | None:
    """Replace an untrusted summary by a stub once a turn `since` has expired: what it summarises is older."""
    if summary is None or summary.label.trusted or not _first_fresh(since, now, settings):
        return summary
    return replace(summary, text=summary_stub(summary), label=HOB_LABEL)


def hide(entries: Sequence[TranscriptEntry], end: int | None = None) -> list[TranscriptEntry]:
    """Replace each untrusted entry before `end` (default: all) by a stub."""
    end = len(entries) if end is None else end
    shown: list[TranscriptEntry] = []
    dropping = False
    for place, entry in enumerate(entries):
        if dropping and entry.role == "tool":
            continue
        dropping = False
        if place >= end or entry.label.trusted:
            shown.append(entry)
        else:
            # A model's arguments are as untrusted as its words, so all results of its round go too.
            dropping = entry.role == "assistant"
            stub = _stub(entry)
            shown.append(
                TranscriptEntry(
                    entry.n, entry.role, stub, HOB_LABEL, entry.turn, entry.at, call=entry.call, is_error=entry.is_error
                )
            )
    return shown


def summary_stub(summary: Summary) -> str:
    """Return the stub of an untrusted summary."""
    return f"[made from untrusted text and left out, {len(summary.text):,} characters; {READ_BACK}({THE_SUMMARY})]"


def _first_fresh(entries: Sequence[TranscriptEntry], now: float, settings: AgentSettings) -> int:
    """Return the position from which everything is shown."""
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


def _stub(entry: TranscriptEntry) -> str:
    when = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M")
    what = "own words, from untrusted text" if entry.role == "assistant" else f"untrusted, {entry.label.origin}"
    return f"[{what}, {when}, {len(entry.text):,} characters left out; {READ_BACK}({entry.n})]"
