"""The window of history in a prompt: all entries after the summary, until there are too many.

Above `compact_above` entries a summary is made; that takes time or may fail, so the window slides only after another
`window` entries, and then `window` entries at a time. It stays in place while the summary is made and between slides,
so that the provider's cache hits. It begins at a turn if possible, and never between a call and its result.
"""

from collections.abc import Sequence

from hob.agent.settings import AgentSettings
from hob.core.ids import CallId
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import TranscriptView

# Providers insist that every call is followed by its result and every result has its call.

MISSING = "[no result was recorded for this call]"


def pair(entries: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
    """Order the entries so that results directly follow their calls, in the calls' order.

    Results without a call are dropped, calls without a result get one that says so, and messages in between come after.
    Ids are matched within one round only, since some servers reuse them.
    """
    paired: list[TranscriptEntry] = []
    place = 0
    while place < len(entries):
        entry = entries[place]
        place += 1
        if entry.role == "tool":
            continue
        paired.append(entry)
        if entry.calls:
            found: dict[CallId | None, TranscriptEntry] = {}
            between: list[TranscriptEntry] = []
            while place < len(entries) and entries[place].role != "assistant":
                later = entries[place]
                if later.role == "tool":
                    found.setdefault(later.call, later)
                else:
                    between.append(later)
                place += 1
            paired.extend(found.get(call.id) or _missing_result(entry, call) for call in entry.calls)
            paired.extend(between)
    return paired


def _missing_result(entry: TranscriptEntry, call: ToolCall) -> TranscriptEntry:
    return TranscriptEntry(0, "tool", MISSING, HOB_LABEL, entry.turn, entry.at, call=call.id, is_error=True)


def load_limit(settings: AgentSettings) -> int:
    """Return how many of a session's last entries to load, so that loading does not change the window."""
    return settings.compact_above + 3 * settings.window


def select(view: TranscriptView, settings: AgentSettings, keep: int | None = None) -> tuple[TranscriptEntry, ...]:
    """Return the entries to show: at least the last `window`, at most `keep` if given."""
    entries = view.entries
    if keep is not None:
        return entries[_skip_results(entries, max(0, len(entries) - keep)) :]
    before = max(0, view.total - len(entries))  # entries that were not loaded
    start = slide(view.total, settings.compact_above + settings.window, settings.window) - before
    if start <= 0:
        return entries[_skip_results(entries, 0) :]
    return entries[back_to_safe(entries, start, settings.window) :]


def slide(total: int, limit: int, window: int) -> int:
    """Return how many of `total` entries to omit: none up to `limit`, then full steps, keeping at least `window`."""
    limit = max(limit, window)
    if total <= limit:
        return 0
    step = max(1, min(window, limit - window))
    return -(-(total - limit) // step) * step


def back_to_safe(entries: Sequence[TranscriptEntry], start: int, reach: int) -> int:
    """Return the nearest start of a turn at or before `start`; beyond `reach`, the nearest that splits no call."""
    start = min(start, len(entries))
    for place in range(start, max(-1, start - reach - 1), -1):
        if is_opening(entries, place):
            return place
    for place in range(start, -1, -1):
        if is_safe(entries, place):
            return place
    return _skip_results(entries, 0)


def is_safe(entries: Sequence[TranscriptEntry], place: int) -> bool:
    """Whether no result at or after the place lacks its call."""
    return place >= len(entries) or place <= 0 or entries[place].role != "tool"


def is_opening(entries: Sequence[TranscriptEntry], place: int) -> bool:
    """Whether a turn begins at the place."""
    if place >= len(entries) or place == 0:
        return place >= len(entries) or entries[0].role == "user"
    return entries[place].role == "user" and entries[place].turn != entries[place - 1].turn


def _skip_results(entries: Sequence[TranscriptEntry], start: int) -> int:
    """Return the first position from `start` on that is not a result of an earlier call."""
    while start < len(entries) and entries[start].role == "tool":
        start += 1
    return start
