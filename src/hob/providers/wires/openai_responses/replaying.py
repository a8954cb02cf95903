"""An answer's items in their order, kept as a `Continuation` and sent back as they were.

The server keeps nothing (`store: false`), so reasoning comes sealed and has to return before what followed it. The data
is a JSON list in the order of the items: a sealed reasoning item as it came; `{"said": n}` for a message of that many
characters of the text; `{"call": true}` for a call. The latter two carry the item's own `id` and `phase`, where it had
them. Text and calls are not in it, since the message has them.

https://developers.openai.com/api/docs/guides/reasoning#keeping-reasoning-items-in-context
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Item = dict[str, Any]

BETWEEN = "\n\n"
"""What stands between two messages of one answer."""
_OWN = ("id", "phase")


class Layout:
    """The order of an answer's items, as they come."""

    def __init__(self) -> None:
        self.sealed = False
        self._parts: list[Item] = []

    def add_reasoning(self, item: Item) -> None:
        """A reasoning item is whole. One that is not sealed could not be returned."""
        if isinstance(item.get("encrypted_content"), str) and item["encrypted_content"]:
            self.sealed = True
            self._parts.append(item)

    def add_message(self, item: Mapping[str, Any], said: int) -> None:
        """A message begins after `said` characters of text."""
        self._parts.append({"said": said, **_own(item)})

    def add_call(self, item: Mapping[str, Any]) -> None:
        """A call begins."""
        self._parts.append({"call": True, **_own(item)})

    def data(self, said: int) -> str:
        """The whole, at the end of an answer with `said` characters of text."""
        parts = []
        for part in reversed(self._parts):
            if "said" in part:
                part, said = {**part, "said": said - part["said"]}, part["said"]
            parts.append(part)
        return json.dumps(parts[::-1], ensure_ascii=False, separators=(",", ":"))


def _own(item: Mapping[str, Any]) -> Item:
    return {name: item[name] for name in _OWN if isinstance(item.get(name), str) and item[name]}


def replay(data: str, text: str, calls: Sequence[Item]) -> list[Item]:
    """The answer's items as they were. Reasoning that would not stand where it stood is left out."""
    parts = _read(data)
    if sum("call" in part for part in parts) != len(calls):
        return [*([message_item(text)] if text else []), *calls]
    if sum(part.get("said", 0) for part in parts) != len(text):
        parts = _retold(parts, len(text))
    items: list[Item] = []
    rest, place = iter(calls), 0
    for part in parts:
        if "said" in part:
            piece = text[place : place + part["said"]]
            if said := piece.removeprefix(BETWEEN) if place else piece:
                items.append(message_item(said, part))
            place += len(piece)
        elif "call" in part:
            items.append({**next(rest), **_own(part)})
        else:
            items.append(part)
    while items and items[-1]["type"] == "reasoning":  # it has to be followed by what it led to
        items.pop()
    return items


def _retold(parts: list[Item], length: int) -> list[Item]:
    """The text was changed since: all of it stands where the first message stood."""
    others = [part for part in parts if "said" not in part]
    place = next((n for n, part in enumerate(parts) if "said" in part or "call" in part), len(others))
    return [*others[:place], {"said": length}, *others[place:]]


def message_item(text: str, own: Mapping[str, Any] | None = None) -> Item:
    """What the assistant said, as an item."""
    if not own or "id" not in own:
        return {"type": "message", "role": "assistant", "content": text, **_own(own or {})}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content, **_own(own)}


def _read(data: str) -> list[Item]:
    try:
        parts = json.loads(data)
    except (ValueError, RecursionError):
        return []
    if not isinstance(parts, list):
        return []
    return [part for part in parts if isinstance(part, dict) and _is_part(part)]


def _is_part(part: Item) -> bool:
    match part:
        case {"call": _, "said": _}:
            return False
        case {"call": called}:
            return called is True
        case {"said": said}:
            return type(said) is int and said >= 0
        case _:
            return part.get("type") == "reasoning" and isinstance(part.get("encrypted_content"), str)
