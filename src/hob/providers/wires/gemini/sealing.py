"""Signatures of thoughts, kept as a `Continuation` and sent back on the parts they came with.

The data is a JSON list of an answer's parts in order, each a pair: so many characters of the text (or null for a call)
and the part's signature (or null). Text and calls are not in it, since the message has them.

https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import json
from collections.abc import Sequence
from typing import Any

Part = dict[str, Any]


class Layout:
    """The order of an answer's parts, as they come."""

    def __init__(self) -> None:
        self.signed = False
        self._parts: list[tuple[int | None, str | None]] = []
        self._told = 0

    def add_text(self, signature: str, said: int) -> None:
        """A part with a signature has ended; by now there are `said` characters of text."""
        self._parts.append((said - self._told, signature))
        self._told = said
        self.signed = True

    def add_call(self, signature: str | None, said: int) -> None:
        """A call came after `said` characters of text."""
        if said > self._told:
            self._parts.append((said - self._told, None))
            self._told = said
        self._parts.append((None, signature))
        self.signed = self.signed or signature is not None

    def data(self, said: int) -> str:
        """The whole, at the answer's end."""
        parts = [*self._parts, (said - self._told, None)] if said > self._told else self._parts
        return json.dumps(parts, separators=(",", ":"))


def unseal(data: str, text: str, calls: Sequence[Part]) -> list[Part]:
    """The answer's parts as they were; of a message that has changed since, only the calls keep their signatures."""
    layout = _read(data)
    signatures = [signature for size, signature in layout if size is None]
    if len(signatures) != len(calls):
        return [*([{"text": text}] if text else []), *calls]
    rest = iter(_signed(call, signature) for call, signature in zip(calls, signatures, strict=True))
    if sum(size or 0 for size, _ in layout) != len(text):
        return [*([{"text": text}] if text else []), *rest]
    parts: list[Part] = []
    place = 0
    for size, signature in layout:
        if size is None:
            parts.append(next(rest))
        else:
            parts.append(_signed({"text": text[place : place + size]}, signature))
            place += size
    return parts


def _signed(part: Part, signature: str | None) -> Part:
    return {**part, "thoughtSignature": signature} if signature else part


def _read(data: str) -> list[tuple[int | None, str | None]]:
    try:
        pairs = json.loads(data)
        return [(size if size is None else int(size), signature and str(signature)) for size, signature in pairs]
    except (ValueError, TypeError, OverflowError, RecursionError):
        return []
