"""Reading back untrusted text that has expired and is only shown as a stub (`hob.agent.prompt.untrusted_expiry`).

Text read back is always untrusted, so it taints the turn that reads it and expires like the rest.
"""

import json
from collections.abc import Sequence

from hob.agent.ports import SessionHistory
from hob.agent.prompt.specs import EARLIER, READ_BACK, THE_SUMMARY
from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.models import TranscriptEntry
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Label, Origin, Trust


class ReadBackTool:
    """A `Toolset` of one tool, limited to the session of the turn that calls it."""

    def __init__(self, past: SessionHistory) -> None:
        self._past = past

    def specs(self) -> tuple[ToolSpec, ...]:
        return EARLIER.tools

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Return the text, never trusted. Raises ToolFailed if the number refers to nothing, and StoreErrors."""
        number = _parse_number(call)
        session = context.turn.session
        text, origin = await (
            self._read_summary(session) if number == THE_SUMMARY else self._read_round(session, number)
        )
        return ToolResult(call.id, text, Label(origin, Trust.UNTRUSTED))

    async def _read_summary(self, session: SessionKey) -> tuple[str, Origin]:
        summary = (await self._past.load_view(session, 0)).summary
        if summary is None:
            raise ToolFailed("this conversation has no summary")
        return summary.text, Origin.MODEL

    async def _read_round(self, session: SessionKey, number: int) -> tuple[str, Origin]:
        entries = await self._past.load_round(session, number)
        if not entries:
            raise ToolFailed(f"there is nothing at {number} in this conversation; give the number of a stub")
        return "\n\n".join(filter(None, map(_render_entry, entries))), _origin_of(entries)


def _parse_number(call: ToolCall) -> int:
    try:
        value = json.loads(call.arguments)
        number = int(value["number"])
    except (ValueError, TypeError, KeyError, OverflowError):
        number = -1
    if not THE_SUMMARY <= number < 1 << 53:
        raise ToolFailed(f'call it with the number of a stub: {{"number": 12}} for {READ_BACK}(12)')
    return number


def _origin_of(entries: Sequence[TranscriptEntry]) -> Origin:
    """Return the common origin of untrusted entries; TOOL if they have several."""
    origins = {entry.label.origin for entry in entries if not entry.label.trusted}
    return origins.pop() if len(origins) == 1 else Origin.TOOL


def _render_entry(entry: TranscriptEntry) -> str:
    calls = (f"[called {call.name} {call.arguments}]" for call in entry.calls)
    head = f"[result of {entry.call}]" if entry.role == "tool" else ""
    return "\n".join(filter(None, (head, entry.text, *calls)))
