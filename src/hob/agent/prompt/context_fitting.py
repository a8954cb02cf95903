"""Fitting a conversation into the remaining context.

Old tool results are replaced by notes first, then old messages are dropped, both in steps of several entries so that
the cut stays in place for a few turns; then this turn's own older results, the ends of long texts, and this turn's
middle rounds. The messages being answered are cut last.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from hob.agent.prompt.tokens import PER_CALL, PER_IMAGE, PER_MESSAGE, estimate_calls, estimate_tokens, shorten
from hob.agent.prompt.window import is_safe
from hob.core.models import TranscriptEntry
from hob.core.steps import ModelReplied, Step
from hob.core.tools import ToolCall, ToolSpec
from hob.core.trust.labels import HOB_LABEL

# Small models get few tools: many would confuse them.

_PER_TOOL = 12  # structure around its name, description and schema


def choose_tools(tools: tuple[ToolSpec, ...], steps: Sequence[Step], maximum: int, room: int) -> tuple[ToolSpec, ...]:
    """Choose at most `maximum` tools of at most `room` tokens together, in their stable order.

    Tools used in the turn are kept, the latest first; the rest of the list is filled from its beginning. So a turn that
    uses only these tools keeps seeing the same ones.
    """
    used = [call.name for step in reversed(steps) if isinstance(step, ModelReplied) for call in step.calls]
    known = {tool.name: tool for tool in tools}
    chosen: set[str] = set()
    left = room
    for name in dict.fromkeys([*used, *known]):
        if name not in known or len(chosen) >= maximum:
            continue
        tokens = estimate_tool(known[name])
        if tokens <= left:
            chosen.add(name)
            left -= tokens
    return tuple(tool for tool in tools if tool.name in chosen)


def estimate_tool(tool: ToolSpec) -> int:
    """Estimate the tokens of one tool."""
    return estimate_tokens(write_tool(tool)) + _PER_TOOL


def write_tool(tool: ToolSpec) -> str:
    """Return a tool roughly as it is sent to the model."""
    return json.dumps([tool.name, tool.description, dict(tool.schema)], ensure_ascii=False)


_PER_MARK = 20  # the marks around an untrusted text
_CAPS = (16_000, 8_000, 4_000, 2_000, 1_000, 500, 200)
_WORST = 2  # tokens per character, at worst
LEFT_OUT = "[earlier steps of this turn are left out]"


def cost(entry: TranscriptEntry) -> int:
    """Return an upper bound of the tokens of a rendered entry."""
    tokens = PER_MESSAGE + estimate_tokens(entry.text)
    if not entry.label.trusted:
        tokens += _PER_MARK
    if entry.role == "tool":
        tokens += PER_CALL
    if entry.calls:
        tokens += estimate_calls(entry.calls)
    if entry.images:
        tokens += PER_IMAGE * len(entry.images)
    if entry.continuation is not None:
        tokens += estimate_tokens(entry.continuation.data)
    return tokens


def fit(
    history: list[TranscriptEntry], own: list[TranscriptEntry], room: int, step: int
) -> tuple[list[TranscriptEntry], list[TranscriptEntry]]:
    """Shorten both to `room` tokens together. History is cut first; then this turn loses what it does not need."""
    before, now = sum(map(cost, history)), sum(map(cost, own))
    if before + now <= room:
        return history, own
    own = _fit_own(own, max(room * 7 // 10, room - before))
    return _fit_history(history, room - sum(map(cost, own)), step), own


def _fit_history(entries: list[TranscriptEntry], room: int, step: int) -> list[TranscriptEntry]:
    entries = _prune_results(entries, room, step, len(entries))
    left = sum(map(cost, entries))
    costs = [cost(entry) for entry in entries]
    for start in range(len(entries) + 1):
        if left <= room and is_safe(entries, start) and (start % step == 0 or start == len(entries)):
            return entries[start:]
        if start < len(entries):
            left -= costs[start]
    return []


def _prune_results(entries: list[TranscriptEntry], room: int, step: int, end: int) -> list[TranscriptEntry]:
    """Replace results before `end` by short notes, oldest first, `step` entries at a time, until all entries fit."""
    pruned = list(entries)
    left = sum(map(cost, pruned))
    for place in range(end):
        if left <= room and place % step == 0:
            break
        entry = pruned[place]
        if entry.role == "tool" and len(entry.text) > 200:
            short = replace(
                entry, text=f"[result of {len(entry.text)} characters left out]", label=HOB_LABEL, images=()
            )
            left -= cost(entry) - cost(short)
            pruned[place] = short
    return pruned


def _fit_own(entries: list[TranscriptEntry], room: int) -> list[TranscriptEntry]:
    if sum(map(cost, entries)) <= room:
        return entries
    last = max((place for place, entry in enumerate(entries) if entry.calls), default=0)
    entries = capped = _prune_results(entries, room, 4, last)
    for cap in _CAPS:
        if sum(map(cost, capped)) <= room:
            return capped
        # always from the whole text, so that the marks count everything removed
        capped = [_cap_entry(entry, cap) for entry in entries]
    return capped if sum(map(cost, capped)) <= room else _drop_middle(capped, entries, room)


def _cap_entry(entry: TranscriptEntry, cap: int) -> TranscriptEntry:
    if len(entry.text) <= cap and not entry.images and all(len(call.arguments) <= cap for call in entry.calls):
        return entry
    calls = tuple(
        call
        if len(call.arguments) <= cap
        else ToolCall(call.id, call.name, f'{{"left_out":"{len(call.arguments)} characters"}}')
        for call in entry.calls
    )
    return replace(entry, text=shorten(entry.text, cap), calls=calls, images=())


def _drop_middle(entries: list[TranscriptEntry], whole: list[TranscriptEntry], room: int) -> list[TranscriptEntry]:
    """Keep the turn's opening and as many of its last rounds as fit, or else as much of the opening as fits."""
    opening = next((place for place, entry in enumerate(entries) if entry.role != "user"), len(entries))
    note = replace(entries[0], text=LEFT_OUT, label=HOB_LABEL, role="user", images=(), calls=(), call=None)
    head = [*entries[:opening], note]
    spare = room - sum(map(cost, head))
    tail = entries[opening:]
    for start in range(len(tail)):
        if is_safe(tail, start) and tail[start].role == "assistant" and sum(map(cost, tail[start:])) <= spare:
            return head + tail[start:]
    return _truncate_to_fit(whole[:opening], room)


def _truncate_to_fit(entries: Sequence[TranscriptEntry], room: int) -> list[TranscriptEntry]:
    """Keep the newest entries, each text cut short enough to fit."""
    for count in range(len(entries), 0, -1):
        newest = entries[len(entries) - count :]
        chars = (room // count - PER_MESSAGE - _PER_MARK - 1) // _WORST
        if chars >= 40 or count == 1:
            return [replace(entry, text=shorten(entry.text, max(0, chars)), images=()) for entry in newest]
    return []
