"""Writes `names.lock`: every name that is data, whether stored, sent, typed or set, and no names of Python code.

Run by `make names`; `tests/architecture` compares the result with the committed file. Modules, classes and functions
can be renamed and moved without changing it. A changed or removed line is a change of stored data or of a promise: it
needs a line in `CHANGELOG.md`, and if the name was stored or could be sent, a reader of the old name.
"""

import ast
import dataclasses
import importlib
import json
import pkgutil
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from enum import Enum, StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import apsw
from openapi import openapi
from settings_page import reference
from usage import functions, options_of
from wording import EVENTS, REASONS

import hob
from hob.app.endpoints import ENDPOINTS
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import api_v1_of
from hob.app.subsystems import SLASH_COMMANDS, SUBSYSTEMS, TOOL_GROUPS
from hob.core import states, steps
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.failures import STATUS
from hob.gateway.http.fields import choices_of, fields_of
from hob.gateway.live.messages import MESSAGES
from hob.gateway.live.table import CLOSES, KINDS
from hob.guard.policy.rule_names import RULES
from hob.providers.catalog.catalog import PROVIDERS

ROOT = Path(__file__).parent.parent
FILE = ROOT / "names.lock"
PACKAGE = ROOT / "src" / "hob"
_HEAD = "# Every name that is data. Written by `make names`; docs/names.py says what a change of it means.\n"


def names() -> str:
    """Return the file: a section per kind of name, one sorted line per name."""
    made: dict[str, Callable[[], Iterable[str]]] = {
        "settings": settings,
        "environment": environment,
        "tables": tables,
        "json in SQL": json_in_sql,
        "json keys": json_keys,
        "enums": enums,
        "moves": moves,
        "steps": journalled_steps,
        "routes": routes,
        "websocket": websocket,
        "stream events": lambda: EVENTS,
        "error codes": lambda: (*(f"{code} {status}" for code, status in STATUS.items()), *REASONS),
        "metrics": metrics,
        "commands": commands,
        "slash commands": lambda: (each.usage for each in SLASH_COMMANDS),
        "tools": tools,
        "providers": lambda: (" ".join((each.id, *each.aliases)) for each in PROVIDERS),
        "policy rules": lambda: RULES,
    }
    parts = (f"\n[{name}]\n" + "".join(f"{line}\n" for line in sorted(set(write()))) for name, write in made.items())
    return _HEAD + "".join(parts)


# Names that people write


def settings() -> Iterator[str]:
    """Yield keys, variables and choices, from the generated settings page."""
    section = ""
    for line in reference(SECTIONS).splitlines():
        if found := re.match(r"## `\[(\w+)]`", line):
            section = found[1]
        elif section and line.startswith("| `"):
            key, kind, _, variable, bounds, meaning = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            choices = "|".join(re.findall(r"`(.*?)`", bounds))
            stored = "stored" if "May be changed at run time." in meaning else ""
            yield " ".join(filter(None, (key.strip("`"), f"({kind})", variable.strip("`"), choices, stored)))


def commands() -> Iterator[str]:
    """Yield each command with its options, and the choices of its arguments."""
    for name, function in functions():
        yield name
        yield from (f"{name} {option}" for option in options_of(function))


def environment() -> Iterator[str]:
    """Yield variables that are read or set; a setting's variable is listed with the setting."""
    shape = re.compile(r"(HOB|OPENAI|ANTHROPIC|OPENCLAW|XDG|LC|NOTIFY|WATCHDOG)(_[A-Z0-9]+)+|[A-Z_]+_HOME")
    yield from filter(shape.fullmatch, _texts())
    yield from (name for each in PROVIDERS for name in (*each.keys, *each.urls) if name.isupper())


# Names that are stored


def tables() -> Iterator[str]:
    """Yield tables and columns after all migrations."""
    with closing(apsw.Connection(":memory:")) as database:
        for file in sorted(PACKAGE.rglob("migrations/*.sql")):
            database.execute(file.read_text("utf-8"))
        for name, kind in database.execute("SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"):
            if kind == "table":
                yield from (f"{name}.{row[1]}" for row in database.execute(f"PRAGMA table_info('{name}')"))
            else:
                yield f"{kind} {name}"


def json_in_sql() -> Iterator[str]:
    """Yield JSON paths in SQL statements."""
    for text in _texts():
        yield from (found[1] or found[2] for found in re.finditer(r"'(\$\.[\w.]+)'|->>? '(\w+)'", text))


def json_keys() -> Iterator[str]:
    """Yield literal keys in modules that read or write JSON."""
    key = re.compile(r"[a-z][a-z_]*")
    for nodes in _nodes():
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        if any("json" in _callee(call) or _callee(call) in {"dumps", "loads"} for call in calls):
            found = [text for node in nodes for text in _keys(node)]
            yield from (text for text in found if key.fullmatch(text))


def _keys(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Dict():
            given: list[ast.expr | None] = node.keys
        case ast.Subscript():
            given = [node.slice]
        case ast.Call(args=[first, *_]) if _callee(node) == "get":
            given = [first]
        case _:
            given = []
    yield from (each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str))


def enums() -> Iterator[str]:
    """Yield the values of every enum, one enum per line; values with a space are texts, not names."""
    for info in pkgutil.walk_packages(hob.__path__, "hob."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)  # a class exists only after its module was imported
    for cls in StrEnum.__subclasses__():
        values = sorted(each.value for each in cls)
        if re.match(r"hob\.(?!testing)", cls.__module__) and not any(" " in value for value in values):
            yield " ".join(values)


def moves() -> Iterator[str]:
    """Yield the allowed state transitions."""
    for table in vars(states).values():
        if isinstance(table, dict):
            for old, new in table.items():
                if isinstance(new, frozenset):
                    yield " ".join((f"{old.value} ->", *sorted(each.value for each in new)))


def journalled_steps() -> Iterator[str]:
    """Yield kinds of steps and their field paths, as written by a complete step."""
    for cls in get_args(steps.Step):
        step = _sample(cls)
        yield from (f"{steps.step_kind(step)} {path}" for path in _paths(json.loads(steps.dump_step(step))))


def _sample(kind: Any) -> Any:
    """Return a value of this type with every field set."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _sample(next(each for each in inner if each is not types.NoneType))
    if origin is tuple:
        return (_sample(inner[0]),)
    if origin is Literal:
        return inner[0]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{field.name: _sample(hints[field.name]) for field in dataclasses.fields(kind) if field.init})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    plain = getattr(kind, "__supertype__", kind)
    return {str: "x", int: 1, float: 1.5, bool: True}[plain]


def _paths(value: Any, path: str = "") -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _paths(inner, f"{path}.{key}".lstrip("."))
        case [first, *_]:
            yield from _paths(first, f"{path}[]")
        case _:
            yield f"{path}: {type(value).__name__}"


# Names that are sent


def routes() -> Iterator[str]:
    """Yield routes, their callers, parameters, answers and codes."""
    yield from _routes(ENDPOINTS)
    yield from _routes(api_v1_of(SUBSYSTEMS))


def _routes(endpoints: Sequence[Endpoint[Any]]) -> Iterator[str]:
    document = openapi(dataclasses.replace(each, local=False) for each in endpoints)
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    for endpoint in endpoints:
        operation = document["paths"][endpoint.path.replace(":path}", "}")][endpoint.method.lower()]
        yield from (" ".join((_route(endpoint), line)).strip() for line in _operation(endpoint, operation, schemas))


def _route(endpoint: Endpoint[Any]) -> str:
    return f"{endpoint.method} {endpoint.path}"


def _operation(endpoint: Endpoint[Any], operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    scopes = [each.value for each in (endpoint.scope, *endpoint.also) if each is not None]
    marks = ("local",) * endpoint.local + ("closed",) * endpoint.closed
    yield " ".join(("for", "|".join(scopes) or "everybody", *marks))
    for given in operation["parameters"]:
        yield f"{given['in']} {given['name']}{' required' if given.get('required') else ''}"
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield from (f"takes {media} {line}".strip() for line in _fields(content["schema"], schemas))
    for status, answer in operation["responses"].items():
        for content in answer["content"].values():
            if int(status) < 400:
                yield from (f"{status} {line}".strip() for line in _fields(content["schema"], schemas))
                yield from (f"{status} header {name}" for name in answer.get("headers", ()))
    yield from (f"error {code}" for code in endpoint.errors)


def _fields(
    schema: Mapping[str, Any], schemas: Mapping[str, Any], path: str = "", seen: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield a line per nested field; names of schemas are internal and left out."""
    if ref := schema.get("$ref", ""):
        if ref in seen:
            yield f"{path}: as above"
            return
        schema, seen = schemas[ref.rpartition("/")[2]], (*seen, ref)
    if choices := schema.get("anyOf"):
        yield from _merged(line for each in choices for line in _fields(each, schemas, path, seen))
    elif "properties" in schema:
        required = schema.get("required", ())
        for name, inner in schema["properties"].items():
            mark = "" if name in required else "?"
            yield from _fields(inner, schemas, f"{path}.{name}{mark}".lstrip("."), seen)
    elif schema.get("type") == "array":
        yield from _fields(schema["items"], schemas, f"{path}[]", seen)
    else:
        kinds = schema.get("type", "any")
        words = [str(each) for each in schema.get("enum", ())]
        kind = "|".join(words or ([kinds] if isinstance(kinds, str) else kinds))
        yield f"{path}: {kind}".removeprefix(": ")


def _merged(lines: Iterable[str]) -> Iterator[str]:
    """Merge lines of a field that may have several types."""
    kinds: dict[str, list[str]] = {}
    for line in lines:
        path, _, kind = line.rpartition(": ")
        kinds.setdefault(path, []).append(kind)
    yield from (f"{path}: {'|'.join(dict.fromkeys(found))}".removeprefix(": ") for path, found in kinds.items())


def websocket() -> Iterator[str]:
    """Yield the messages of `/ws` in both directions, and its close codes."""
    for kind in KINDS:
        yield f"say {kind.name} {kind.scope.value if kind.scope else ''}".strip()
        for field in fields_of(kind.takes):
            words = "|".join(field.bounds.one_of or choices_of(field.kind))
            yield f"say {kind.name} {field.name}{'' if field.required else '?'} {words}".strip()
    for message in MESSAGES.values():
        yield f"told {message.name}"
        yield from (f"told {message.name} {field}" for field in get_type_hints(message.form))
    yield from (f"close {code}" for code in CLOSES)


def metrics() -> Iterator[str]:
    """Yield metrics with their kinds and labels, wherever they are created."""
    shape = re.compile(r"(hob|process)_[a-z_]+")
    for nodes in _nodes():
        found = []
        for node in nodes:
            match node:
                case ast.Call(args=[ast.Constant(value=str(name)), ast.Constant(value=str(kind)), *_]):
                    if shape.fullmatch(name):
                        found.append(f"{name} {kind if kind in {'counter', 'gauge'} else 'gauge'}")
        yield from found
        pairs = (node.elts[0] for node in nodes if found and isinstance(node, ast.Tuple) and node.elts)
        yield from (f"label {name}" for each in pairs if isinstance(each, ast.Dict) for name in _keys(each))


def tools() -> Iterator[str]:
    """Yield tools with their parameters and the guard's roles."""
    for spec in (spec for group in TOOL_GROUPS for spec in group.tools):
        tier = " ".join((f"tier {spec.tier}", spec.restart, *sorted(spec.effects)))
        yield f"{spec.name}: {tier}"
        yield from (f"{spec.name} {line}" for line in _fields(spec.schema, {}))


# The source


@cache
def _nodes() -> tuple[tuple[ast.AST, ...], ...]:
    """Return the syntax nodes of each module, except for twins and foreign wire formats."""
    files = (each for name in PACKAGE.iterdir() if name.name not in {"testing", "providers"} for each in _files(name))
    return tuple(tuple(ast.walk(ast.parse(file.read_text("utf-8")))) for file in files)


def _files(path: Path) -> Iterable[Path]:
    return path.rglob("*.py") if path.is_dir() else [path] if path.suffix == ".py" else []


def _texts() -> Iterator[str]:
    for nodes in _nodes():
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _callee(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def main() -> None:
    """Write the file; report a change."""
    text = names()
    if not FILE.exists() or FILE.read_text("utf-8") != text:
        FILE.write_text(text, "utf-8")
        sys.stdout.write(f"{FILE.name}\n")


if __name__ == "__main__":
    main()
