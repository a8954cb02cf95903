"""Parsing of written calls: JSON in all shapes that models learned, Python, and tagged parameters.

A call counts only if its name is an available tool. Its arguments are kept as written, even if malformed: the caller
repairs them or returns a useful error.
"""

import json
import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

# JSON as written by a model: where a value ends and what its members are, verbatim, even if it is broken.

# Strings are matched as a whole, so that brackets inside do not count. A lone quote begins an unterminated string.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*"|[{}\[\]:,"]', re.DOTALL)
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*"|[{}\[\]"]', re.DOTALL)


def find_value_end(text: str, start: int) -> int:
    """Return where the object or array starting at `start` ends, or -1 if it does not."""
    depth = 0
    for token in _BRACKET.finditer(text, start):
        match token[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return token.end()
            case '"':
                return -1
    return -1


def split_members(text: str) -> list[tuple[str, str]]:
    """Return the members of an object, or the elements of an array with empty names, each value as written.

    If the text breaks off, the last value is incomplete.
    """
    found: list[tuple[str, str]] = []
    listed = text[:1] == "["
    depth, name, start = 0, "", 1 if listed else -1
    for token in _TOKEN.finditer(text):
        kind = token[0]
        if kind in "{[":
            depth += 1
            continue
        closing = kind in "}]"
        depth -= closing
        if kind == '"' or depth > 1:
            if kind == '"':
                break
        elif (closing and depth == 0) or (kind == "," and depth == 1):
            _add(found, name, text[start : token.start()] if start >= 0 else "")
            name, start = "", token.end() if listed else -1
            if closing:
                return found
        elif kind == ":" and depth == 1 and start < 0 and name:
            start = token.end()
        elif kind[0] == '"' and depth == 1 and start < 0:
            name = parse_lenient(kind) or ""
    if start >= 0:
        _add(found, name, text[start:])
    return found


def parse_lenient(text: str) -> Any:
    """Return the value, allowing line breaks in strings; None if it is not JSON."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def to_json(value: Any) -> str:
    """Return the value as JSON."""
    return json.dumps(value, ensure_ascii=False)


def _add(found: list[tuple[str, str]], name: str, value: str) -> None:
    value = value.strip()
    if value:
        found.append((name, value))


_NAMES = ("name", "tool_name", "tool", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "params", "input", "tool_input", "action_input")
_WRAPPERS = ("function", "function_call", "tool_call")
_OTHERS = ("type", "id", "index", "tool_calls")
FIRST_KEYS = frozenset({*_NAMES, *_ARGUMENTS, *_WRAPPERS, *_OTHERS})
"""First keys of an object that may be a call."""

Tools = Mapping[str, Mapping[str, Any]]
"""The available tools: names and schemas."""


class WrittenCall(NamedTuple):
    """A call as it was written."""

    name: str
    arguments: str


Calls = tuple[WrittenCall, ...]


def json_calls(text: str, tools: Tools, *, marked: bool) -> Calls:
    """Return the calls in an object or a list; none if it contains anything else.

    `marked` calls are in a place only for calls; others must also have arguments to count.
    """
    text = text.strip()
    found = _calls(text, tools, marked)
    if not found and "'" in text:  # Python's quotes
        found = _calls(_python_to_json(text), tools, marked)
    return found


def _calls(text: str, tools: Tools, marked: bool) -> Calls:
    return _listed(text, tools, marked) if text[:1] == "[" else _object_calls(text, tools, marked)


def _listed(text: str, tools: Tools, marked: bool) -> Calls:
    found: list[WrittenCall] = []
    for _, element in split_members(text):
        calls = _object_calls(element, tools, marked)
        if not calls:
            return ()
        found += calls
    return tuple(found)


def _object_calls(text: str, tools: Tools, marked: bool) -> Calls:
    if text[:1] != "{":
        return ()
    members = dict(split_members(text))
    if members.get("tool_calls", "")[:1] == "[":
        return _listed(members["tool_calls"], tools, marked)
    for key in _WRAPPERS:
        if members.get(key, "")[:1] == "{":
            members = dict(split_members(members[key]))
            break
    key = next((key for key in _NAMES if key in members), "")
    name = find_name(parse_lenient(members.get(key, "")), tools)
    if name is None:
        return ()
    arguments = next((members[each] for each in _ARGUMENTS if each in members), None)
    if arguments is None:
        if not marked:
            return ()
        rest = {each: value for each, value in members.items() if each not in (key, "type", "id")}
        arguments = "{" + ", ".join(f"{to_json(each)}: {value}" for each, value in rest.items()) + "}"
    return (WrittenCall(name, _unwrap_arguments(arguments)),)


def _unwrap_arguments(arguments: str) -> str:
    """Return arguments that were written as a string or left empty."""
    value = parse_lenient(arguments) if arguments[0] in '"n' else None
    if isinstance(value, str):
        return value
    return "{}" if arguments == "null" else arguments


def find_name(name: Any, tools: Tools) -> str | None:
    """Return the available tool of this name."""
    if not isinstance(name, str):
        return None
    name = name.strip()
    return name if name in tools else (short if (short := name.removeprefix("functions.")) in tools else None)


def python_calls(source: str, tools: Tools) -> Calls:
    """Return the calls in a Python expression: one, or a list, printed or not. Nothing is ever evaluated."""
    import ast  # only a model that writes Python needs it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about backslashes
            node = ast.parse(source.strip(), mode="eval").body
        found: list[WrittenCall] = []
        for call in node.elts if isinstance(node, ast.List) else [node]:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "print" and len(call.args) == 1:
                call = call.args[0]
            name = find_name(ast.unparse(call.func), tools) if isinstance(call, ast.Call) else None
            if name is None or not isinstance(call, ast.Call):
                return ()
            known = list(tools[name].get("properties", {}))
            given = {known[place]: ast.literal_eval(value) for place, value in enumerate(call.args)}
            given |= {part.arg or "": ast.literal_eval(part.value) for part in call.keywords}
            found.append(WrittenCall(name, to_json(given)))
    except (SyntaxError, ValueError, TypeError, IndexError, RecursionError, MemoryError):
        return ()
    return tuple(found)


def _python_to_json(source: str) -> str:
    """Return a Python literal as JSON; empty if it is none."""
    import ast  # only a model that writes Python needs it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return to_json(ast.literal_eval(source))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ""


def parse_tagged_arguments(pairs: list[tuple[str, str]], schema: Mapping[str, Any]) -> str:
    """Return arguments from names and texts, converted to the types in the schema."""
    properties = schema.get("properties", {})
    return to_json({name: _typed(text, properties.get(name, {})) for name, text in pairs})


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    if "string" in schema.get("type", "string"):
        return text
    value = parse_lenient(text)
    return text if value is None and text.strip() != "null" else value


PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
"""An argument as written by Qwen's coding models."""
ARGUMENT = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.DOTALL)
"""An argument as written by GLM."""
ESCAPED = re.compile(r"([\w-]+):(?:<escape>(.*?)<escape>|([^,{}]*))", re.DOTALL)
"""An argument as written by FunctionGemma."""
