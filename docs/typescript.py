"""The types of the dashboard's client, from its OpenAPI file."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def client_types(document: Mapping[str, Any]) -> str:
    """Return a module with an interface for each schema and the types of each route."""
    lines = ["// Written by `make docs` from docs/openapi-v1.json.", "/* eslint-disable */", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += [f"/** {schema.get('description', '').partition(chr(10))[0]} */", f"export interface {name} {{"]
        lines += [f"  {line}" for line in _fields(schema)]
        lines += ["}", ""]
    lines.append("export interface Routes {")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            lines.append(f"  {json.dumps(f'{method.upper()} {path}')}: {{")
            lines.append(f"    path: {_given(operation, 'path')};")
            lines.append(f"    query: {_given(operation, 'query')};")
            lines.append(f"    body: {_body(operation)};")
            lines.append(f"    answer: {_answer(operation)};")
            lines.append("  };")
    return "\n".join([*lines, "}", ""])


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        yield f"{_name(name)}{'' if name in required else '?'}: {_type(each)};"


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return _either(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return _either(json.dumps(each) for each in schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either(_type({**schema, "type": each}) for each in kind)
    if kind == "array":
        inner = _type(schema.get("items", {}))
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object":
        return "Record<string, unknown>"
    return _PLAIN.get(str(kind), "unknown")


def _either(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def _given(operation: Mapping[str, Any], where: str) -> str:
    found = [each for each in operation["parameters"] if each["in"] == where]
    if not found:
        return "undefined"
    inner = (f"{each['name']}{'' if each.get('required') else '?'}: {_type(each['schema'])}" for each in found)
    return f"{{ {'; '.join(inner)} }}"


def _body(operation: Mapping[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/octet-stream" in content:
        return "Blob"
    return _type(content["application/json"]["schema"]) if content else "undefined"


def _answer(operation: Mapping[str, Any]) -> str:
    for status in ("200", "202"):
        content = operation["responses"].get(status, {}).get("content", {})
        if "application/json" in content:
            return _type(content["application/json"]["schema"])
        if content:
            return "Blob"
    return "undefined"
