"""Reasoning that the server has signed or sealed, kept as a `Continuation` and sent back where it was.

The data is a JSON list of an answer's parts in order: a sealed block as it came; a number, for that many characters of
the text; null for a call. Text and calls are not in it, since the message has them.

https://platform.claude.com/docs/en/build-with-claude/extended-thinking#extended-thinking-with-tool-use
"""

import json
from collections.abc import Sequence
from typing import Any

from hob.providers.http.answer import Growing

Block = dict[str, Any]
SEALED = ("thinking", "redacted_thinking")


class Layout:
    """The order of an answer's parts, as they come."""

    def __init__(self) -> None:
        self.sealed = False
        self._parts: list[Growing | int | None] = []
        self._told = 0

    def add_sealed(self, block: Block, said: int) -> Growing:
        """A sealed block, which may still grow, begins after `said` characters of text."""
        self._tell(said)
        self.sealed = True
        growing = Growing(block)
        self._parts.append(growing)
        return growing

    def add_call(self, said: int) -> None:
        """A call begins after `said` characters of text."""
        self._tell(said)
        self._parts.append(None)

    def _tell(self, said: int) -> None:
        if said > self._told:
            self._parts.append(said - self._told)
            self._told = said

    def data(self, said: int) -> str:
        """The whole, at the answer's end."""
        self._tell(said)
        parts = [part.whole() if isinstance(part, Growing) else part for part in self._parts]
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def unseal(data: str, text: str, calls: Sequence[Block]) -> list[Block]:
    """The answer's blocks as they were; where the message is no longer what it was, sealed blocks come first."""
    parts = _read(data)
    lengths = [part for part in parts if type(part) is int]
    if sum(lengths) != len(text) or sum(part is None for part in parts) != len(calls):
        said = [{"type": "text", "text": text}] if text.strip() else []
        return [*(part for part in parts if isinstance(part, dict)), *said, *calls]
    blocks: list[Block] = []
    rest, place = iter(calls), 0
    for part in parts:
        if isinstance(part, dict):
            blocks.append(part)
        elif part is None:
            blocks.append(next(rest))
        else:
            piece, place = text[place : place + part], place + part
            if piece.strip():
                blocks.append({"type": "text", "text": piece})
    return blocks


def _read(data: str) -> list[Block | int | None]:
    try:
        parts = json.loads(data)
    except (ValueError, RecursionError):
        return []
    if not isinstance(parts, list):
        return []
    return [
        part
        for part in parts
        if part is None or (type(part) is int and part > 0) or (isinstance(part, dict) and part.get("type") in SEALED)
    ]
