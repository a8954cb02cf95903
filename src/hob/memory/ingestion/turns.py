"""The parts of a turn that are remembered verbatim: people's messages, answers, and tool results.

The rules are KafClaw's, except for people's short messages: KafClaw stores pairs of message and answer of at least 100
characters, and so loses "I live in Paris".
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from hob.core.content.chunks import split_text
from hob.core.ids import ONE_TURN_PREFIX, SessionKey
from hob.core.memory import OWNER, Layer, MemoryItem, Scope, is_private
from hob.core.models import TranscriptEntry
from hob.core.trust.labels import Origin
from hob.core.trust.self_messages import SELF
from hob.core.turns import Turn, memory_scope
from hob.memory.settings import MemorySettings

MIN = {"user": 12, "assistant": 100, "tool": 200}
"""Minimum characters of a text worth keeping, by role."""
LONGEST = 4_000
"""Maximum characters of an item. A longer message becomes several items; the rest of a tool result stays in the
conversation.
"""

_IDLE = re.compile(
    r"(?:(?:hi|hello|hey|hallo|moin|servus|ok|okay|yes|no|ja|nein|danke|thanks|thank you|guten (?:morgen|tag|abend)|"
    r"good (?:morning|evening)|sure|of course|great|perfect|got it|alright|no problem|you(?:'|\u2019)?re welcome|bye|"
    r"gern|gerne|gern geschehen|bitte|bitte schön|klar|alles klar|super|prima|perfekt|kein problem|verstanden|tschüss)"
    r"(?:[\s,]+(?:hob|there|sehr|so much|a lot|very much|vielmals|schön))?[\s!.,?]*){1,4}",
    re.IGNORECASE,
)
_RAW = ('{"tool_call', '[{"id"', '{"', "[{")
_QUESTION = re.compile(r"[^.!?\n]{1,80}\?+")
"""A question contains no information, and competes with its answer in searches."""
_COMMAND = re.compile(r"/[A-Za-z]+(?:\s|$)")
_OWN = frozenset({
    "recall", "remember", "memory_search", "memory_get", "update_working_memory", "ask_user", "report_progress",
    "load_tools", "facts", "correct_fact", "get_goals", "create_goal", "update_goal",
})  # fmt: skip
"""Tools whose results are already in memory or in the conversation."""


def items_of_turn(turn: Turn, entries: Sequence[TranscriptEntry], settings: MemorySettings) -> Iterator[MemoryItem]:
    """Return the items of a finished turn; none for private sessions, single-turn sessions and sub-agents."""
    own = turn.inbounds[:1]  # Hob's messages to itself were not said by anybody
    if (
        is_private(turn.session)
        or turn.session.startswith(ONE_TURN_PREFIX)
        or any(each.sender.id == SELF for each in own)
    ):
        return
    channel = turn.inbounds[0].origin.channel
    speakers = {inbound.sender.name or inbound.sender.cls for inbound in turn.inbounds}
    speaker = speakers.pop() if len(speakers) == 1 else ""
    kind = "background" if all(inbound.background for inbound in turn.inbounds) else "turn"
    for layer, entry, tool, text in _worth_keeping(entries):
        yield MemoryItem(
            scope=memory_scope(turn),
            layer=layer,
            source=f"{layer}:{tool or channel}",
            text=text,
            label=entry.label,
            at=entry.at,
            session=turn.session,
            position=entry.n,
            turn=turn.id,
            speaker=_SPEAKERS.get(entry.role) or speaker,
            role=entry.role,
            kind="result" if entry.role == "tool" else kind,
            expires_at=settings.expiry(layer, entry.at),
        )


def items_of_import(session: SessionKey, entries: Sequence[TranscriptEntry]) -> Iterator[MemoryItem]:
    """Return the items of an imported conversation. They do not expire, since they are old on arrival."""
    for entry in entries:
        for text in split_text(entry.text, LONGEST) if _says_something(entry) else ():
            yield MemoryItem(
                scope=Scope(OWNER),
                layer=Layer.CONVERSATION,
                source=f"{Layer.CONVERSATION}:{session.partition(':')[0]}",
                text=text,
                label=entry.label,
                at=entry.at,
                session=session,
                position=entry.n,
                speaker="assistant" if entry.role == "assistant" else "",
                role=entry.role,
                kind="turn",
            )


def _says_something(entry: TranscriptEntry) -> bool:
    """Return whether a text is more than a greeting or thanks. Imports keep both sides, however short."""
    text = entry.text.strip()
    if not text or entry.role not in ("user", "assistant") or entry.label.origin is Origin.HOB:
        return False
    return not (_IDLE.fullmatch(text) or _COMMAND.match(text) or text.startswith(_RAW))


def _worth_keeping(entries: Sequence[TranscriptEntry]) -> Iterator[tuple[Layer, TranscriptEntry, str, str]]:
    """Yield the pieces worth keeping, as layer, entry, tool and text."""
    calls = {call.id: call.name for entry in entries for call in entry.calls}
    for entry in entries:
        tool = calls.get(entry.call, "") if entry.call else ""
        if not is_worth_keeping(entry, tool):
            continue
        if entry.role == "tool":
            yield Layer.TOOL, entry, tool, entry.text[:LONGEST]
            continue
        for text in split_text(entry.text, LONGEST):
            yield Layer.CONVERSATION, entry, tool, text


_SPEAKERS: Mapping[str, str] = {"assistant": "Hob", "tool": "tool"}


def is_worth_keeping(entry: TranscriptEntry, tool: str = "") -> bool:
    """Return whether a text is worth keeping: not a greeting, a command, raw JSON, too short, or Hob's own."""
    text = entry.text.strip()
    if len(text) < MIN.get(entry.role, LONGEST) or entry.label.origin is Origin.HOB or tool in _OWN:
        return False
    if entry.role == "tool":
        return not entry.is_error
    return not (_IDLE.fullmatch(text) or _QUESTION.fullmatch(text) or _COMMAND.match(text) or text.startswith(_RAW))
