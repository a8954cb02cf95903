"""The OpenAPI file, generated from the route table for client generators and test tools.

Format: https://spec.openapis.org/oas/v3.1.1.html. It contains only routes reachable over TCP.
"""

import dataclasses
import inspect
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from markdown import answer_words

from hob import __version__
from hob.gateway.chat.inbound import ChatRequest
from hob.gateway.http.endpoint import JSON, Endpoint
from hob.gateway.http.failures import BUSY, STATUS, Failed
from hob.gateway.http.fields import MAX, Field, choices_of, fields_of
from hob.gateway.http.reply import PROBLEM, JsonResponse, Problem, problem_response
from hob.gateway.openai.answer_types import Completion, OpenAIFailed, ResponseAnswer
from hob.gateway.routes.views import ChatAnswer

_PRINTABLE = "^[^\\x00-\\x1f\\x7f-\\xa0\\xad\\u2028\\u2029]*$"
"""The pattern that both ECMA and Python regular expressions support; other unprintable characters are refused too."""
_TEXT = {"type": "string", "pattern": r"\S"}
_SAID = {"message": _TEXT, "quoted": _TEXT, "attachments": {"type": "array", "minItems": 1}}
"""A message has at least one of these fields."""
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
_EVERYWHERE = (
    "invalid_request",
    "wrong_host",
    "wrong_origin",
    "store",
    "store_full",
    "stopping",
    "too_many_connections",
)
_OF_CALLERS = ("unauthorized", "missing_scope", "too_many_attempts", "not_configured")
_OF_BODIES = ("too_large", "not_json")
_WAITS: Mapping[Any, tuple[str, ...]] = {
    ChatAnswer: ("Location",),
    Completion: ("Location", "X-Hob-Approval"),
    ResponseAnswer: ("Location", "X-Hob-Approval"),
}
"""Headers of a 202 answer."""
_REASONS = {
    101: "The connection is a WebSocket now.",
    200: "Done.",
    202: "Accepted, and not over yet: `Location` says where to ask.",
    204: "Done.",
}


def openapi(endpoints: Iterable[Endpoint[Any]], server: str = "http://127.0.0.1:18790") -> dict[str, Any]:
    """Return the whole document."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        if not endpoint.local:
            paths.setdefault(endpoint.path.replace(":path}", "}"), {})[endpoint.method.lower()] = _operation(
                endpoint, schemas
            )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hob",
            "version": __version__,
            "description": "A self-hosted personal assistant. Every failure is `{error: {code, message}}`,"
            " under `/v1` with OpenAI's `type` and `param`.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def answers_here(endpoint: Endpoint[Any]) -> tuple[tuple[int, Any], ...]:
    """Return the bodies of a route's answers by status: its handler's return type, else any object."""
    declared = get_type_hints(endpoint.handler).get("return")
    for kind in (declared, *get_args(declared)):
        if get_origin(kind) is JsonResponse:
            return tuple((status, get_args(kind)[0]) for status in endpoint.statuses)
    return tuple((status, dict[str, Any]) for status in endpoint.statuses)


def codes_of(endpoint: Endpoint[Any]) -> dict[int, list[str]]:
    """Return the codes of a route's failures by status."""
    codes = {*_EVERYWHERE, *endpoint.errors}
    if endpoint.scope is not None:
        codes |= set(_OF_CALLERS)
    if endpoint.method not in {"GET", "DELETE"}:
        codes |= set(_OF_BODIES)
    found: dict[int, list[str]] = {status: [] for status in endpoint.failures}
    for code in sorted(codes):
        found.setdefault(STATUS[code], []).append(code)
    return dict(sorted(found.items()))


def _operation(endpoint: Endpoint[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    text = inspect.getdoc(endpoint.handler) or ""
    summary, _, more = text.partition("\n\n")
    operation: dict[str, Any] = {
        "operationId": _name(endpoint),
        "summary": summary.replace("\n", " "),
        "parameters": [*_of_path(endpoint), *_of_query(endpoint), *_of_headers(endpoint)],
        "responses": _responses(endpoint, schemas),
    }
    if more:
        operation["description"] = more.replace("\n", " ")
    if endpoint.scope is not None:
        operation["security"] = [{"bearer": []}]
        operation["x-scopes"] = [scope.value for scope in (endpoint.scope, *endpoint.also)]
    if endpoint.has_body:
        operation["requestBody"] = _body(endpoint, schemas)
    return operation


def _name(endpoint: Endpoint[Any]) -> str:
    words = [word for word in re.split(r"\W+", endpoint.path.replace(":path}", "}")) if word]
    return "_".join([endpoint.method.lower(), *words])


def _of_path(endpoint: Endpoint[Any]) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)[:}]", endpoint.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _of_query(endpoint: Endpoint[Any]) -> list[dict[str, Any]]:
    if endpoint.has_body or endpoint.raw:
        return []
    return [
        {
            "name": field.name,
            "in": "query",
            "required": field.required,
            "description": field.bounds.doc,
            "schema": _of_field(field, {}),
        }
        for field in fields_of(endpoint.takes)
    ]


def _of_headers(endpoint: Endpoint[Any]) -> list[dict[str, Any]]:
    # Accept is implied by the content types of answers
    shown = [(name, text) for name, text in endpoint.headers if name.lower() != "accept"]
    key = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]*[!-~][ -~]*$"}
    return [
        {"name": name, "in": "header", "description": text, "schema": key if name == "Idempotency-Key" else {}}
        for name, text in shown
    ]


def _body(endpoint: Endpoint[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if endpoint.raw:
        return {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    return {"required": True, "content": {JSON: {"schema": _of_request(endpoint, schemas)}}}


def _of_request(endpoint: Endpoint[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    return _of_dataclass(endpoint.takes, schemas, closed=endpoint.closed)


def _of_dataclass(cls: Any, schemas: dict[str, Any], *, closed: bool = True) -> dict[str, Any]:
    declared = fields_of(cls)
    schema: dict[str, Any] = {
        "type": "object",
        "description": inspect.getdoc(cls) or "",
        "properties": {each.name: _or_null(each, _of_field(each, schemas)) for each in declared},
    }
    if cls is ChatRequest:
        one = [{"required": [name], "properties": {name: said}} for name, said in _SAID.items()]
        schema["allOf"] = [{"anyOf": one}]
    if required := [each.name for each in declared if each.required]:
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    schemas[cls.__name__] = schema
    return _ref(cls)


def _or_null(field: Field, schema: dict[str, Any]) -> dict[str, Any]:
    """In a body, null means not given, so every optional field accepts it."""
    if field.required or not schema.keys() & {"type", "$ref"}:
        return schema
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def _of_field(field: Field, schemas: dict[str, Any]) -> dict[str, Any]:
    bounds, kind = field.bounds, field.kind
    schema = _of_kind(kind, schemas)
    if bounds.doc:
        schema["description"] = bounds.doc
    if kind in (int, float):
        low, high = bounds.at_least, bounds.at_most
        schema |= {"minimum": -MAX if low is None else low, "maximum": MAX if high is None else high}
    if bounds.characters is not None:
        minimum, maximum = bounds.characters
        schema |= {"minLength": minimum, "maxLength": maximum, "pattern": _PRINTABLE}
    if bounds.only is not None:
        schema["enum"] = [*bounds.only, None]
    if bounds.one_of:
        schema["enum"] = list(bounds.one_of)
    if not field.required and field.default not in (None, ()):
        schema["default"] = field.default
    return schema


def _of_kind(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if get_origin(kind) is Annotated:
        of, told = get_args(kind)
        return _of_kind(of, schemas) | {"description": told}
    if get_origin(kind) is NotRequired:
        return _of_kind(get_args(kind)[0], schemas)
    if get_origin(kind) in (Union, types.UnionType):
        return {"anyOf": [_of_kind(each, schemas) for each in get_args(kind)]}
    if kind is types.NoneType:
        return {"type": "null"}
    if is_typeddict(kind):
        return _of_answer(kind, schemas)
    if dataclasses.is_dataclass(kind):
        return _of_dataclass(kind, schemas)
    if get_origin(kind) in (list, tuple, Sequence):
        return {"type": "array", "items": _of_kind(get_args(kind)[0], schemas)}
    if kind is dict or get_origin(kind) in (dict, Mapping):
        return {"type": "object"}
    if choices := choices_of(kind):
        return {"type": "string", "enum": list(choices)}
    return {"type": _PLAIN[kind]} if kind in _PLAIN else {}


def _of_answer(cls: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    hints: Mapping[str, Any] = get_type_hints(cls, include_extras=True)
    if cls.__name__ not in schemas:
        about, words = answer_words(cls)
        schemas[cls.__name__] = {
            "type": "object",
            "description": about,
            "properties": {
                name: _of_kind(kind, schemas) | ({"description": words[name]} if name in words else {})
                for name, kind in hints.items()
            },
            "required": [name for name in hints if name in cls.__required_keys__],
        }
    return _ref(cls)


def _ref(cls: type) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{cls.__name__}"}


def _failed(endpoint: Endpoint[Any]) -> Any:
    return OpenAIFailed if endpoint.path.startswith("/v1/") else Failed


def _responses(endpoint: Endpoint[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, kind in answers_here(endpoint):
        content = {media: {"schema": _of_kind(kind, schemas) if media == JSON else {}} for media in endpoint.media}
        found[str(status)] = {"description": _REASONS.get(status, "Not now."), "content": content}
        if status == 202 and kind in _WAITS:
            found["202"]["headers"] = {name: {"schema": {"type": "string"}} for name in _WAITS[kind]}
    problems = endpoint.failing is problem_response
    failed, form = (Problem, PROBLEM) if problems else (_failed(endpoint), JSON)
    for status, codes in codes_of(endpoint).items():
        schema = _of_answer(failed, schemas)
        told = "Nothing was done: " + ", ".join(f"`{code}`" for code in codes) + "." if codes else ""
        if status in endpoint.failures and failed is not Failed:
            told = f"{told} Or it was accepted, and has failed.".strip()
        elif status in endpoint.failures:  # a model's failures have the same form under every name
            told = f"{told} Or it was accepted, has an `id`, and has failed.".strip()
            kinds = [_of_answer(ChatAnswer, schemas), *([schema] if codes else [])]
            schema = {"anyOf": kinds} if len(kinds) > 1 else kinds[0]
        if str(status) in found:  # an answer and a failure may share a status
            before = found[str(status)]["content"]
            content = {**before, form: {"schema": {"anyOf": [before[JSON]["schema"], schema]}}}
        elif problems and status in endpoint.failures:
            content = {
                JSON: {"schema": _of_answer(ChatAnswer, schemas)},
                form: {"schema": _of_answer(Problem, schemas)},
            }
        else:
            content = {form: {"schema": schema}}
        found[str(status)] = {"description": told, "content": content}
        if status in (429, 503, 507) and codes != list(BUSY):
            found[str(status)]["headers"] = {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}}
    return dict(sorted(found.items()))
