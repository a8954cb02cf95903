"""Recover the text of each section from a stored request."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from hob.agent.prompt.rendering import end_of
from hob.core.ids import CallId
from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage
from hob.core.steps import ModelAsked
from hob.core.values import dataclass

_MARKED = r"(?s)<(untrusted-[0-9a-f]{10}) from=(\w+)>\n(.*?)\n</\1>"
_MARK = "<untrusted-"
_CONVERSATION = ("not accepted", "summary", "history", "this turn")


@dataclass(frozen=True, slots=True)
class SectionPiece:
    """A piece of a section: its role (`system`, `user`, `assistant`, or `tool` with its name) and text.

    `untrusted` is the origin named by the marks around it; empty if there are none.
    """

    role: str
    text: str
    name: str = ""
    untrusted: str = ""


def section_texts(step: ModelAsked, request: ModelRequest) -> Mapping[str, Sequence[SectionPiece]]:
    """Return the pieces of each section that `step` names; sections that cannot be separated share their full text."""
    parts = [(name, size) for name, size, *_ in step.sections]
    place = next((n for n, (name, _) in enumerate(parts) if name == "tools"), None)
    if place is None:  # it had no tools
        place = next((n for n, (name, _) in enumerate(parts) if name in _CONVERSATION), len(parts))
    found: dict[str, Sequence[SectionPiece]] = dict(_cut("system", request.system, parts[:place], "\n\n"))
    found["tools"] = [SectionPiece("system", _tool(each.description, each.schema), each.name) for each in request.tools]
    found |= _conversation(step, request.messages)
    shown = _between(request.messages, step.ends[3], step.ends[4], {}) if step.ends else ()
    block = "".join(piece.text for piece in shown)
    volatile = [each for each in parts[place:] if each[0] not in found]
    found |= _cut("user", block.removeprefix("<context>\n").removesuffix("\n</context>"), volatile, "\n")
    return {name: tuple(found[name]) for name, _ in parts if name in found}


def _cut(
    role: str, text: str, parts: Sequence[tuple[str, int]], joint: str
) -> Iterator[tuple[str, Sequence[SectionPiece]]]:
    data, start = text.encode("utf-8", "surrogatepass"), 0
    exact = sum(size for _, size in parts) + len(joint) * (len(parts) - 1) == len(data)
    for name, size in parts:
        piece = data[start : start + size].decode("utf-8", "replace") if exact else text
        yield name, _pieces(role, piece)
        start += size + len(joint)


def _conversation(step: ModelAsked, messages: Sequence[ModelMessage]) -> Mapping[str, Sequence[SectionPiece]]:
    names = {call.id: call.name for each in messages if isinstance(each, AssistantMessage) for call in each.calls}
    if not step.ends:  # requests stored by an earlier release do not separate them
        return {name: _between(messages, (0, 0), end_of(messages), names) for name in _CONVERSATION}
    ends = ((0, 0), *step.ends, end_of(messages))
    found = {name: _between(messages, ends[n], ends[n + 1], names) for n, name in enumerate(_CONVERSATION)}
    return {**found, "this turn": [*found["this turn"], *_between(messages, ends[5], ends[6], names)]}


def _between(
    messages: Sequence[ModelMessage], start: tuple[int, int], end: tuple[int, int], names: Mapping[CallId, str]
) -> list[SectionPiece]:
    """Return the pieces from one position to another; `names` are those of the tools, by call."""
    found: list[SectionPiece] = []
    first = max(1, start[0])
    for n, message in enumerate(messages[first - 1 : end[0]], first):
        text = message.text[start[1] if n == start[0] else 0 : end[1] if n == end[0] else None].strip("\n")
        match message:
            case ToolMessage():
                found += _pieces("tool", text, names.get(message.call, ""))
            case AssistantMessage():
                found += _pieces("assistant", text)
                if n > start[0]:
                    found += [SectionPiece("assistant", call.arguments, call.name) for call in message.calls]
            case _:
                found += _pieces("user", text)
    return found


def _pieces(role: str, text: str, name: str = "") -> list[SectionPiece]:
    """Split the text into marked and unmarked pieces."""
    found, place = [], 0
    for marked in re.finditer(_MARKED, text) if _MARK in text else ():
        found += [SectionPiece(role, text[place : marked.start()].strip("\n"), name)]
        found += [SectionPiece(role, marked[3], name, marked[2])]
        place = marked.end()
    found += [SectionPiece(role, text[place:].strip("\n"), name)]
    return [piece for piece in found if piece.text]


def _tool(description: str, schema: Mapping[str, object]) -> str:
    return f"{description}\n{_indent_json(json.dumps(schema, ensure_ascii=False))}"


@lru_cache(256)
def _indent_json(schema: str) -> str:
    """Indent for reading; cached because the standard encoder indents slowly."""
    return json.dumps(json.loads(schema), ensure_ascii=False, indent=1)
