"""Where a request is marked for the prompt cache.

A mark means: keep what is read up to here, and look for it here or in one of the blocks shortly before. A request has
at most four. What stays the same between two requests (see `hob.agent.prompt.builder`) decides where they are worth it:

1. the end of the system text, which stays for days;
2. the end of the request: the next one of this turn goes on from there;
3. the end of what came before the message that opened the turn: that message changes in the next turn, since its
   volatile block goes, so the next turn goes on from here;
4. where the request before this one has its mark, if more has been said since than the server looks back.
   Else the end of the tools, for a conversation with the same tools and another system text.

https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

from collections.abc import Sequence
from typing import Any

MOST_MARKS = 4
LOOK_BACK = 20
"""Blocks that a mark finds an earlier one in, itself included."""
_MARK = {"type": "ephemeral"}

Block = dict[str, Any]


def mark(tools: list[Block], system: list[Block], messages: list[Block]) -> None:
    """Write the marks into the blocks."""
    places = _places(messages)
    for place in places:
        _mark_last(messages[place]["content"])
    _mark_last(system)
    if not system or len(places) < MOST_MARKS - 1:
        _mark_last(tools)


def _places(messages: Sequence[Block]) -> list[int]:
    """The messages at whose ends there are marks."""
    last = len(messages) - 1
    if last < 0:
        return []
    openings = [place for place, message in enumerate(messages) if _opens(message)]
    before = openings[-1] - 1 if openings else -1
    if openings and openings[-1] == last:  # the turn's first request: the one before it was the turn's before
        newest, earlier = before, openings[-2] - 1 if len(openings) > 1 else -1
    else:
        newest, earlier = last, last - 2
    places = {last, before}
    if earlier >= 0 and _blocks_between(messages, earlier, newest) >= LOOK_BACK:
        places.add(earlier)
    return sorted(place for place in places if place >= 0)


def _opens(message: Block) -> bool:
    """Whether a turn begins with the message: the user side speaks, and no tool does."""
    return message["role"] == "user" and not any(block["type"] == "tool_result" for block in message["content"])


def _blocks_between(messages: Sequence[Block], earlier: int, later: int) -> int:
    return sum(len(message["content"]) for message in messages[earlier + 1 : later + 1])


def _mark_last(blocks: Sequence[Block]) -> None:
    """Sealed reasoning cannot be marked."""
    for block in reversed(blocks):
        if block.get("type") not in ("thinking", "redacted_thinking"):
            block["cache_control"] = _MARK
            return
