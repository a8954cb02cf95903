"""Shared parts of OpenAI's endpoints: error objects, headers, and checks of tools.

https://platform.openai.com/docs/guides/error-codes, https://platform.openai.com/docs/guides/rate-limits
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hob.testing.model_server.hypertext import HttpRequest, make_json_response
from hob.testing.model_server.wire import Cause, Wire, WireRefusal, bad_request, refuse_if

BROKEN = {"message": "The server had an error.", "type": "server_error", "param": None, "code": None}

_ERRORS: Mapping[Cause, tuple[int, str, str, str | None]] = {
    Cause.INTERNAL: (500, "The server had an error while processing the request.", "server_error", None),
    Cause.OVERLOADED: (503, "The engine is currently overloaded.", "server_error", None),
    Cause.RATE: (429, "Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    Cause.QUOTA: (429, "You have no quota left.", "insufficient_quota", "insufficient_quota"),
    Cause.PAYMENT: (402, "Insufficient credits.", "billing_error", "insufficient_credits"),
    Cause.KEY: (401, "Incorrect API key provided: {param}.", "invalid_request_error", "invalid_api_key"),
    Cause.NO_KEY: (401, "You didn't provide an API key.", "invalid_request_error", None),
    Cause.FORBIDDEN: (403, "Country, region, or territory not supported.", "request_forbidden", "unsupported_country"),
    Cause.BAD_REQUEST: (400, "Unknown parameter: 'frobnicate'.", "invalid_request_error", "unknown_parameter"),
    Cause.NO_MODEL: (404, "The model does not exist.", "invalid_request_error", "model_not_found"),
    Cause.NO_PATH: (404, "Unknown request URL.", "invalid_request_error", "unknown_url"),
    Cause.OVERFLOW: (
        400,
        "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
        "invalid_request_error",
        "context_length_exceeded",
    ),
    Cause.TOO_LARGE: (413, "Maximum content size limit exceeded.", "invalid_request_error", None),
}


def named_model(request: Mapping[str, Any]) -> str:
    """Return the requested model. Raises WireRefused."""
    model = request.get("model")
    refuse_if(
        not isinstance(model, str) or not model,
        "You must provide a model parameter.",
        "model",
        "missing_required_parameter",
    )
    return str(model)


def check_name(name: object, where: str) -> None:
    """Check that a function name has at most 64 letters, digits, `_` and `-`. Raises WireRefused."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        message = f"Invalid '{where}': string does not match the pattern '^[a-zA-Z0-9_-]+$', or is longer than 64."
        raise bad_request(message, where, "invalid_value")


def check_tools(tools: Sequence[Any], nested: str = "") -> None:
    """Check a list of functions, each under the key `nested`, if given. Raises WireRefused."""
    refuse_if(
        not isinstance(tools, list) or not 1 <= len(tools) <= 128,
        "Invalid 'tools': expected an array of 1 to 128.",
        "tools",
        "invalid_value",
    )
    for number, tool in enumerate(tools):
        where = f"tools[{number}]"
        refuse_if(
            tool.get("type") != "function" and nested,
            f"Invalid value: '{tool.get('type')}'.",
            f"{where}.type",
            "invalid_value",
        )
        if tool.get("type") != "function":
            continue
        function = tool.get(nested) if nested else tool
        if not isinstance(function, dict) or "name" not in function:
            inside = f"{where}.{nested}.name" if nested else f"{where}.name"
            raise bad_request(f"Missing required parameter: '{inside}'.", inside, "missing_required_parameter")
        check_name(function["name"], f"{where}.{nested}.name" if nested else f"{where}.name")
        if "parameters" in function and function["parameters"] is not None:
            _check_parameters(function, where)


def _check_parameters(function: Mapping[str, Any], where: str) -> None:
    schema = function["parameters"]
    found = f"Invalid schema for function '{function['name']}': "
    code = "invalid_function_parameters"
    param = f"{where}.parameters"
    refuse_if(
        not isinstance(schema, dict) or (schema and schema.get("type") != "object"),
        f"{found}schema must be a JSON Schema of 'type: \"object\"'.",
        param,
        code,
    )
    for path, part in _parts(schema, ()):
        refuse_if(
            part.get("type") == "array" and "items" not in part,
            f"{found}In context={path}, array schema missing items.",
            param,
            code,
        )
        if not function.get("strict") or "properties" not in part:
            continue
        refuse_if(
            part.get("additionalProperties") is not False,
            f"{found}In context={path}, 'additionalProperties' must be supplied and be false.",
            param,
            code,
        )
        refuse_if(
            set(part.get("required", ())) != set(part["properties"]),
            f"{found}In context={path}, 'required' must name every key in properties.",
            param,
            code,
        )


def _parts(schema: Mapping[str, Any], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield a schema and all its subschemas with their paths."""
    found = [(path, schema)]
    for name, part in (schema.get("properties") or {}).items():
        if isinstance(part, dict):
            found += _parts(part, (*path, "properties", name))
    if isinstance(schema.get("items"), dict):
        found += _parts(schema["items"], (*path, "items"))
    for word in ("anyOf", "oneOf", "allOf"):
        for place, part in enumerate(schema.get(word) or ()):
            found += _parts(part, (*path, word, str(place)))
    return found


class OpenAIWire(Wire):
    """Shared answers of OpenAI's two chat protocols."""

    def refuse(self, refusal: WireRefusal, number: str, http_request: HttpRequest) -> bytes:
        """Return the HTTP response with OpenAI's error object. Like the real server, it quotes a wrong key."""
        status, message, kind, code = _ERRORS[refusal.cause]
        error = {
            "message": refusal.message or message.format(param=refusal.param),
            "type": kind,
            "param": None if refusal.cause is Cause.KEY else refusal.param,
            "code": refusal.code if refusal.message else code,
        }
        named = {**self.headers(number, refusal.wait if refusal.cause is Cause.RATE else None), **refusal.retry_after}
        return make_json_response(refusal.status or status, {"error": error}, named)

    def headers(self, number: str, wait: float | None = None) -> Mapping[str, str]:
        return {
            "x-request-id": f"req_{number}",
            "openai-version": "2020-10-01",
            "openai-processing-ms": "7",
            "x-ratelimit-limit-requests": "10000",
            "x-ratelimit-limit-tokens": "2000000",
            "x-ratelimit-remaining-requests": "9999" if wait is None else "0",
            "x-ratelimit-remaining-tokens": "1999000",
            "x-ratelimit-reset-requests": "6ms" if wait is None else f"{wait:g}s",
            "x-ratelimit-reset-tokens": "30ms",
        }
