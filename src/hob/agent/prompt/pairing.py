"""Every call is followed by its result, and every result has its call: what providers insist on."""

from collections.abc import Sequence

from hob.core.ids import CallId
from hob.core.labels import HOB_LABEL
from hob.core.models import Entry
from hob.core.tools import ToolCall

MISSING = "[no result was recorded for this call]"


def pair(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with results right behind their calls, in the calls' order.

    Results without a call are dropped, calls without a result get one that says so, and what was said in between comes
    after. Ids are matched within one round only, since some servers use the same ones again and again.
    """
    paired: list[Entry] = []
    place = 0
    while place < len(entries):
        entry = entries[place]
        place += 1
        if entry.role == "tool":
            continue
        paired.append(entry)
        if entry.calls:
            found: dict[CallId | None, Entry] = {}
            between: list[Entry] = []
            while place < len(entries) and entries[place].role != "assistant":
                later = entries[place]
                if later.role == "tool":
                    found.setdefault(later.call, later)
                else:
                    between.append(later)
                place += 1
            paired.extend(found.get(call.id) or _missing(entry, call) for call in entry.calls)
            paired.extend(between)
    return paired


def _missing(entry: Entry, call: ToolCall) -> Entry:
    return Entry(0, "tool", MISSING, HOB_LABEL, entry.turn, entry.at, call=call.id, is_error=True)
