"""Repeated tool results: a later one that equals an earlier one only refers to it.

This works on the final contents of a request, so the earlier result is always present; stored results stay complete.
Only earlier entries decide, so a request still begins as the one before.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from hob.core.ids import CallId
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall

_MIN_CHARS = 400  # characters


def without_repeats(*parts: Sequence[TranscriptEntry]) -> tuple[list[TranscriptEntry], ...]:
    """Shorten repeated results in the parts of one conversation, in order."""
    calls: dict[CallId, ToolCall] = {}
    known: set[tuple[str, str, str]] = set()
    return tuple([_shorten_repeat(entry, calls, known) for entry in part] for part in parts)


def _shorten_repeat(
    entry: TranscriptEntry, calls: dict[CallId, ToolCall], known: set[tuple[str, str, str]]
) -> TranscriptEntry:
    if entry.calls:
        calls.update({call.id: call for call in entry.calls})
    if entry.role != "tool" or entry.call not in calls or len(entry.text) < _MIN_CHARS or entry.images:
        return entry
    call = calls[entry.call]
    key = (call.name, _sorted_keys(call.arguments), entry.text)
    if key not in known:
        known.add(key)
        return entry
    return replace(entry, text=f"[the same {len(entry.text):,} characters as {call.name} gave for this call above]")


def _sorted_keys(arguments: str) -> str:
    """Normalise the order of keys."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
