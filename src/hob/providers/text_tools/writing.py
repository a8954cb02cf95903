"""Tools, calls and results as text that a small model understands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hob.core.models import AssistantMessage, ModelMessage, ToolMessage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.past_calls import result_text
from hob.providers.schemas import SchemaDialect, ToolNames, normalise
from hob.providers.text_tools.json_text import read, write

_HOW = """\
# Tools

To use a tool, write only this and stop; its result comes in the next message:
<tool_call>{"name": "tool", "arguments": {"parameter": "value"}}</tool_call>
Use a tool only when it helps; otherwise answer in plain text. Never write a result yourself. A ? marks what may be \
left out. There are only these tools:"""
_MOST_DESCRIPTION, _MOST_NOTE = 200, 80  # characters for a tool, for one of its parameters
_MOST_CHOICES = 12
_DEEPEST = 2


def write_tools(specs: Iterable[ToolSpec], names: ToolNames) -> str:
    """How tools are used, and one line for each. The same tools give the same bytes."""
    lines = [
        f"- {names.to_wire(spec.name)}({_signature(normalise(spec, SchemaDialect.GRAMMAR))})"
        + (f": {said}" if (said := _line(spec.description, _MOST_DESCRIPTION)) else "")
        for spec in specs
    ]
    return "\n".join([_HOW, *lines])


def write_history(messages: Sequence[ModelMessage], names: ToolNames) -> tuple[ModelMessage, ...]:
    """The messages with calls and results as text; neighbours of one side as one message."""
    written: list[ModelMessage] = []
    called: dict[str, str] = {}
    for message in messages:
        plain = message
        if isinstance(message, AssistantMessage) and message.calls:
            called |= {call.id: names.to_wire(call.name) for call in message.calls}
            calls = "\n".join(_call(call, names) for call in message.calls)
            plain = AssistantMessage(f"{message.text}\n{calls}" if message.text else calls)
        elif isinstance(message, ToolMessage):
            plain = UserMessage(_result(message, called.get(message.call, "tool")))
        last = written[-1] if written else None
        if isinstance(plain, UserMessage) and isinstance(last, UserMessage):
            written[-1] = UserMessage(f"{last.text}\n{plain.text}", last.images + plain.images)
        else:
            written.append(plain)
    return tuple(written)


def _call(call: ToolCall, names: ToolNames) -> str:
    arguments = call.arguments.strip() or "{}"
    if not isinstance(read(arguments), dict):
        arguments = write({"malformed": arguments})
    return f'<tool_call>{{"name": {write(names.to_wire(call.name))}, "arguments": {arguments}}}</tool_call>'


def _result(message: ToolMessage, name: str) -> str:
    # what a tool brought in must not pass for the end of its own result
    text = message.text.replace("<tool_result", "(tool_result").replace("</tool_result", "(/tool_result")
    return f"<tool_result name={write(name)}>\n{result_text(replace(message, text=text))}\n</tool_result>"


def _signature(schema: Mapping[str, Any], depth: int = 0) -> str:
    required = schema.get("required", ())
    return ", ".join(
        _parameter(name if name in required else f"{name}?", part, depth)
        for name, part in schema.get("properties", {}).items()
    )


def _parameter(name: str, schema: Mapping[str, Any], depth: int) -> str:
    note = _line(str(schema.get("description", "")), _MOST_NOTE) if depth == 0 else ""
    kind = _kind(schema, depth)
    return f"{_line(name, 80)}: {kind} ({note})" if note else f"{_line(name, 80)}: {kind}"


def _kind(schema: Mapping[str, Any], depth: int) -> str:
    """A schema's type in few words, e.g. `string[]`, `"r" | "w"`, `{name: string, size?: integer}`."""
    choices = schema.get("enum", ())
    if 0 < len(choices) <= _MOST_CHOICES:
        return " | ".join(map(write, choices))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_kind(part, depth) for part in schema["anyOf"]))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return "any" if len(kind) > 3 else " | ".join(kind)
    if depth < _DEEPEST and kind == "array" and schema.get("items"):
        inner = _kind(schema["items"], depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if depth < _DEEPEST and kind == "object" and schema.get("properties"):
        return f"{{{_signature(schema, depth + 1)}}}"
    return str(kind)


def _line(text: str, most: int) -> str:
    """The first line of a text, cut at a word."""
    line = next(iter(text.strip().splitlines()), "").strip()
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"
