"""Arguments of tool calls: parse, repair, check against the schema, and describe."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hob.core.spelling import close_names
from hob.core.tools import ToolSpec

UNREADABLE = "$unreadable"
"""Key that holds arguments nothing could parse; journalled arguments are always a JSON object."""

_MAX_UNREADABLE_CHARS = 2_000  # characters of unreadable arguments that are shown to the model again
_MAX_LINE_CHARS = 120  # characters of a one-line description

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def normalize_arguments(raw: str, *, repair: bool = True) -> str:
    """Return the arguments as the text of a JSON object.

    A JSON object is returned unchanged, byte for byte. With `repair` broken JSON is repaired; never use that for a
    truncated reply, whose last argument is incomplete. Arguments that stay unreadable are stored under `UNREADABLE`.
    """
    text = raw.strip()
    if not text:
        return "{}"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _repair(text) if repair else None
        return _dump(value) if isinstance(value, dict) and value else _wrap_unreadable(raw)
    if isinstance(value, dict):
        return raw
    if value is None:
        return "{}"
    if isinstance(value, str) and value.strip() != text:  # encoded twice: a JSON text inside a JSON string
        return normalize_arguments(value, repair=repair)
    return _wrap_unreadable(raw)


def load_arguments(arguments: str) -> dict[str, Any] | None:
    """Parse arguments returned by `normalize_arguments`; None if they were unreadable."""
    value: dict[str, Any] = json.loads(arguments)
    return None if UNREADABLE in value else value


def problems_of(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the arguments: missing, wrong type, not a choice. An empty list means they are valid.

    This covers the part of JSON Schema that models get wrong; a tool checks the rest itself.
    """
    return _object_problems(arguments, schema, "")


def usage_of(spec: ToolSpec) -> str:
    """Return one line that tells a model how to call the tool."""
    required = set(spec.schema.get("required", ()))
    parts = [
        f"{name}: {_type_text(part)}" + ("" if name in required else " (optional)")
        for name, part in spec.schema.get("properties", {}).items()
    ]
    return f"{spec.name} takes {{{', '.join(parts)}}}"


def brief_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the main argument of a call in one line: its first text, required parameters first.

    A choice (an action) is followed by the next text.
    """
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if name in properties]
    found: list[str] = []
    for name in dict.fromkeys((*required, *properties)):
        value = arguments.get(name)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = ", ".join(value)
        if not isinstance(value, str) or not value.strip():
            continue
        found.append(brief_line(value))
        if not (isinstance(properties[name], Mapping) and "enum" in properties[name]):
            break
    return brief_line(" ".join(found))


def brief_line(text: str) -> str:
    """Return the text in one line, shortened if it is long."""
    line = " ".join(text[: 8 * _MAX_LINE_CHARS].split())
    return line if len(line) <= _MAX_LINE_CHARS else line[: _MAX_LINE_CHARS - 1] + "…"


def brief_result(text: str, *, last: bool) -> str:
    """Return the most informative line of a result: the last one of a command's output, otherwise the first."""
    lines = [line for line in text.splitlines() if line.strip()]
    return brief_line(lines[-1 if last else 0]) if lines else ""


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return up to three similar known names, best first."""
    return close_names(name, known, likeness=0.5)


def _repair(text: str) -> Any:
    import json_repair  # only broken arguments need it

    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))  # ASCII, so that no unpaired surrogate reaches the database


def _wrap_unreadable(raw: str) -> str:
    return _dump({UNREADABLE: raw[:_MAX_UNREADABLE_CHARS]})


def _type_text(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(choice) for choice in schema["enum"])
    kind = schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else str(kind)


def _object_problems(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> list[str]:
    found = [f"{path}{name} is missing" for name in schema.get("required", ()) if name not in value]
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        found += [f"{path}{name} is not a parameter" for name in value if name not in properties]
    for name, part in properties.items():
        if name in value:
            found += _value_problems(value[name], part, path + name)
    return found


def _value_problems(value: Any, schema: Any, path: str) -> list[str]:
    if not isinstance(schema, Mapping):  # `true` and `false` are schemas too
        return []
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if kinds and not any(_has_type(value, kind) for kind in kinds):
        return [f"{path} must be {' or '.join(kinds)}, not {type(value).__name__}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path} must be one of {', '.join(json.dumps(choice) for choice in schema['enum'])}"]
    if isinstance(value, dict):
        return _object_problems(value, schema, path + ".")
    if isinstance(value, list) and "items" in schema:
        return [
            problem
            for n, item in enumerate(value)
            for problem in _value_problems(item, schema["items"], f"{path}[{n}]")
        ]
    return []


def _has_type(value: Any, kind: str) -> bool:
    wanted = _TYPES.get(kind)
    if wanted is None:
        return True
    if isinstance(value, bool) and bool not in wanted:  # Python's bool is an int, JSON's is not
        return False
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, wanted)
