"""Gemini generateContent: https://ai.google.dev/api/generate-content, .../gemini-api/docs/thought-signatures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote

from hob.core.content.json_text import parse_json_object
from hob.testing.model_server.hypertext import Event, Framing, HttpRequest, dump, make_json_response
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault
from hob.testing.model_server.signatures import is_signed, sign
from hob.testing.model_server.wire import (
    Cause,
    Wire,
    WireAnswer,
    WireRefusal,
    WireWriter,
    bad_request,
    order_rows,
    refuse_if,
    split_text,
    split_words,
)

# Reasons for which Gemini refuses a request.
#
# Schemas are a subset of OpenAPI's: https://ai.google.dev/api/caching#Schema. Order of calls and results:
# https://ai.google.dev/gemini-api/docs/function-calling. Signatures: .../gemini-api/docs/thought-signatures.

_FIELDS = split_words(
    """
    contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent model labels serviceTier
    store
    """
)
_GENERATION = split_words(
    """
    stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens
    temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers
    speechConfig thinkingConfig imageConfig mediaResolution
    """
)
_DECLARATION = split_words("name description behavior parameters parametersJsonSchema response responseJsonSchema")
_SCHEMA = split_words(
    """
    type format title description nullable enum maxItems minItems properties required minProperties maxProperties
    minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum
    """
)
_TYPES = split_words("STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL")
_DATA = split_words("text inlineData fileData functionCall functionResponse executableCode codeExecutionResult")
_PART = _DATA | {"thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"}
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
# Documented placeholders for a missing signature.
_UNSIGNED = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")


def check(request: Mapping[str, Any], model: str) -> None:
    """Check the request. Raises WireRefused."""
    _check_names(request, _FIELDS, "")
    _check_names(request.get("generationConfig") or {}, _GENERATION, "generation_config")
    for number, tool in enumerate(request.get("tools") or ()):
        for place, declaration in enumerate(tool.get("functionDeclarations") or ()):
            _check_declaration(declaration, f"tools[{number}].function_declarations[{place}]")
    contents: Any = request.get("contents")
    refuse_if(
        not isinstance(contents, list) or not contents, "* GenerateContentRequest.contents: contents is not specified\n"
    )
    for number, content in enumerate(contents):
        _check_content(content, f"contents[{number}]")
    _check_order(contents)
    if not model.startswith(("gemini-1", "gemini-2")):
        _check_signatures(contents)


def _check_names(found: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    for name in found:
        if name not in known:
            at = f" at '{where}'" if where else ""
            raise bad_request(
                f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.', where or name
            )


def _check_declaration(declaration: Mapping[str, Any], where: str) -> None:
    _check_names(declaration, _DECLARATION, where)
    refuse_if(
        not _NAME.fullmatch(declaration["name"]),
        f"* GenerateContentRequest.{where}.name: Invalid function name. Must start with a letter or an underscore. "
        "Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a "
        "maximum length of 64.\n",
    )
    refuse_if(
        "parameters" in declaration and "parametersJsonSchema" in declaration,
        f"{where}: only one of parameters and parameters_json_schema may be set",
        where,
    )
    if "parameters" in declaration:
        check_schema(declaration["parameters"], f"{where}.parameters")


def check_schema(schema: Mapping[str, Any], where: str) -> None:
    """Check a schema in `parameters`. Raises WireRefused."""
    _check_names(schema, _SCHEMA, where)
    kind = schema.get("type")
    refuse_if(
        kind is not None and not isinstance(kind, str),
        f"Invalid JSON payload received. Unknown name \"type\" at '{where}': Proto field is not repeating.",
    )
    kind = (kind or "").upper()
    if kind and kind not in _TYPES:
        raise bad_request(
            f"Invalid value at '{where}.type' (type.googleapis.com/google.ai.Type), \"{schema['type']}\"", where
        )
    refuse_if(
        "enum" in schema and (kind != "STRING" or not all(isinstance(value, str) for value in schema["enum"])),
        f"* GenerateContentRequest.{where}.enum: only allowed for STRING type\n",
    )
    refuse_if(
        kind == "STRING" and schema.get("format", "enum") not in ("enum", "date-time"),
        f"* GenerateContentRequest.{where}.format: only 'enum' and 'date-time' are supported for STRING\n",
    )
    refuse_if(kind == "ARRAY" and "items" not in schema, f"* GenerateContentRequest.{where}.items: missing field.\n")
    properties = schema.get("properties") or {}
    refuse_if(
        kind == "OBJECT" and not properties,
        f"* GenerateContentRequest.{where}.properties: should be non-empty for OBJECT type\n",
    )
    for place, name in enumerate(schema.get("required") or ()):
        refuse_if(
            name not in properties, f"* GenerateContentRequest.{where}.required[{place}]: property is not defined\n"
        )
    for name, part in properties.items():
        check_schema(part, f"{where}.properties[{name}].value")
    if "items" in schema:
        check_schema(schema["items"], f"{where}.items")
    for place, part in enumerate(schema.get("anyOf") or ()):
        check_schema(part, f"{where}.any_of[{place}]")


def _check_content(content: Mapping[str, Any], where: str) -> None:
    _check_names(content, frozenset({"role", "parts"}), where)
    refuse_if(content.get("role", "user") not in ("user", "model", "function"), "Please use a valid role: user, model.")
    refuse_if(not content.get("parts"), f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.\n")
    for place, part in enumerate(content["parts"]):
        at = f"{where}.parts[{place}]"
        _check_names(part, _PART, at)
        refuse_if(
            len(_DATA & part.keys()) != 1,
            f"* GenerateContentRequest.{at}.data: required oneof field 'data' must have one field",
        )
        if "functionCall" in part:
            _check_names(part["functionCall"], frozenset({"id", "name", "args"}), f"{at}.function_call")
            refuse_if(
                not isinstance(part["functionCall"].get("args", {}), dict),
                f"Invalid value at '{at}.function_call.args' (type.googleapis.com/google.protobuf.Struct)",
            )
        if "functionResponse" in part:
            response = part["functionResponse"]
            known = frozenset({"id", "name", "response", "parts", "willContinue", "scheduling"})
            _check_names(response, known, f"{at}.function_response")
            refuse_if(
                not response.get("name"),
                f"* GenerateContentRequest.{at}.function_response.name: Name cannot be empty.\n",
            )
            refuse_if(
                not isinstance(response["response"], dict),
                f"Invalid value at '{at}.function_response.response' (google.protobuf.Struct)",
            )


def _count(content: Mapping[str, Any] | None, kind: str) -> int:
    return sum(kind in part for part in content["parts"]) if content else 0


def _check_order(contents: Sequence[Mapping[str, Any]]) -> None:
    """Check the order: calls follow a user's turn or results; results follow their calls, one for each."""
    for number, content in enumerate(contents):
        before = contents[number - 1] if number else None
        after = contents[number + 1] if number + 1 < len(contents) else None
        calls, results = _count(content, "functionCall"), _count(content, "functionResponse")
        refuse_if(
            calls and (before is None or before.get("role", "user") == "model"),
            "Please ensure that function call turn comes immediately after a user turn or after a function "
            "response turn.",
        )
        refuse_if(
            results and not _count(before, "functionCall"),
            "Please ensure that function response turn comes immediately after a function call turn.",
        )
        refuse_if(
            calls and _count(after, "functionResponse") != calls,
            "Please ensure that the number of function response parts is equal to the number of function call "
            "parts of the function call turn.",
        )
        if results and before is not None:
            _check_answers(before, content)


def _check_answers(calls: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    asked = [part["functionCall"] for part in calls["parts"] if "functionCall" in part]
    given = [part["functionResponse"] for part in results["parts"] if "functionResponse" in part]
    refuse_if(
        sorted(call["name"] for call in asked) != sorted(result["name"] for result in given),
        "Please ensure that the names of the function responses are those of the function calls.",
    )


def _check_signatures(contents: Sequence[Mapping[str, Any]]) -> None:
    """Check that the first call of each step in the current turn (after the user's last text) has its own signature."""
    said = [n for n, content in enumerate(contents) if content.get("role", "user") != "model" and _is_said(content)]
    for number in range(said[-1] + 1 if said else 0, len(contents)):
        first = next(((n, part) for n, part in enumerate(contents[number]["parts"]) if "functionCall" in part), None)
        if first is None:
            continue
        place, part = first
        name = part["functionCall"]["name"]
        signature = part.get("thoughtSignature")
        refuse_if(
            not signature,
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
            f"work correctly. Additional data, function call `default_api:{name}` , position {place + 1}.",
        )
        refuse_if(signature not in _UNSIGNED and not is_signed(name, signature), "Corrupted thought signature.")


def _is_said(content: Mapping[str, Any]) -> bool:
    return any("functionResponse" not in part for part in content["parts"])


_PATH = re.compile(r"/v1beta/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)")
_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)
_ERRORS: Mapping[Cause, tuple[int, str, str]] = {
    Cause.INTERNAL: (500, "INTERNAL", "An internal error has occurred."),
    Cause.OVERLOADED: (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    Cause.RATE: (429, "RESOURCE_EXHAUSTED", _QUOTA),
    Cause.QUOTA: (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted. Please check your billing."),
    Cause.PAYMENT: (402, "FAILED_PRECONDITION", "Please enable billing on your project."),
    Cause.KEY: (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    Cause.NO_KEY: (
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers. Please use API Key to call this API.",
    ),
    Cause.FORBIDDEN: (403, "PERMISSION_DENIED", "The caller does not have permission."),
    Cause.BAD_REQUEST: (
        400,
        "INVALID_ARGUMENT",
        'Invalid JSON payload received. Unknown name "frobnicate": Cannot find field.',
    ),
    Cause.NO_MODEL: (404, "NOT_FOUND", "models/fake is not found for API version v1beta."),
    Cause.NO_PATH: (404, "NOT_FOUND", "Requested entity was not found."),
    Cause.OVERFLOW: (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    Cause.TOO_LARGE: (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
}


def _is_array(http_request: HttpRequest) -> bool:
    """Whether the stream is one JSON array, the default without server-sent events."""
    path, _, query = http_request.path.partition("?")
    return path.endswith(":streamGenerateContent") and "alt=sse" not in query.split("&")


def _details(refusal: WireRefusal) -> list[Mapping[str, Any]]:
    """Return the error details, with RetryInfo for the wait: https://cloud.google.com/apis/design/errors"""
    prefix = "type.googleapis.com/google.rpc."
    if refusal.cause is Cause.KEY:
        info = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        return [{"@type": f"{prefix}ErrorInfo", **info, "metadata": {"service": "generativelanguage.googleapis.com"}}]
    if refusal.cause is Cause.RATE and refusal.wait is not None:
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            "quotaValue": "15",
        }
        return [
            {"@type": f"{prefix}QuotaFailure", "violations": [violation]},
            {"@type": f"{prefix}RetryInfo", "retryDelay": f"{refusal.wait:g}s"},
        ]
    if refusal.cause is Cause.BAD_REQUEST and refusal.param:
        return [
            {
                "@type": f"{prefix}BadRequest",
                "fieldViolations": [{"field": refusal.param, "description": refusal.message}],
            }
        ]
    return []


def _turns(system: Mapping[str, Any], contents: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    if system["parts"]:
        yield Turn("system", _text(system["parts"]))
    for content in contents:
        for part in content["parts"]:
            if "functionResponse" in part:
                yield Turn("tool", _result(part["functionResponse"]["response"]))
        if any("functionResponse" not in part for part in content["parts"]):
            role = content.get("role", "user")
            yield Turn("assistant" if role == "model" else "user", _text(content["parts"]))


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(part["text"] for part in parts if "text" in part and not part.get("thought"))


def _result(response: Mapping[str, Any]) -> str:
    """Return the output of a tool: by documented convention its object has one of these keys."""
    for name in ("output", "result", "error"):
        if isinstance(response.get(name), str):
            return str(response[name])
    return dump(response)


class _Candidate(WireWriter):
    """Writer of one reply as a series of responses or as one."""

    def __init__(self, answer: WireAnswer) -> None:
        super().__init__(answer)
        self._finish = "STOP"
        if answer.is_(Fault.FILTERED) or answer.reply.truncated:
            self._finish = "MAX_TOKENS" if answer.reply.truncated else "SAFETY"
        self._calls = list(self._parts_of_calls())
        self._running = self._usage(1)

    def whole(self) -> object:
        parts: list[Mapping[str, Any]] = []
        if self._thought():
            parts.append({"text": self._thought(), "thought": True})
        if self._reply.text:
            parts.append({"text": self._reply.text})
        return self._response([*parts, *self._calls], self._finish)

    def body(self) -> Sequence[Event]:
        rows: list[list[Mapping[str, Any]]] = [
            [{"text": piece} for piece in split_text(self._reply.text)],
            self._calls,
        ]
        thoughts = [{"text": piece, "thought": True} for piece in split_text(self._thought())]
        return [self._event([part]) for part in (*thoughts, *order_rows(rows, self._reply.fault))]

    def tail(self) -> Sequence[Event]:
        finish = None if self._answer.is_(Fault.NO_FINISH) else self._finish
        return [self._event([{"text": ""}], finish)]

    def broken(self) -> Event:
        error = {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}
        return Event(dump({"error": error}))

    def _thought(self) -> str:
        return self._reply.reasoning if self._answer.prompt.shows else ""

    def _parts_of_calls(self) -> Iterator[Mapping[str, Any]]:
        """Yield parts with calls. Arguments must be an object; otherwise the real server gives up on the answer.

        The first call of a step carries the signature for all of them.
        """
        for n, (name, arguments) in enumerate(self._reply.calls):
            found = parse_json_object(arguments)
            if found is None:
                self._finish = "MALFORMED_FUNCTION_CALL"
                return
            identity = {} if self._answer.is_(Fault.NO_IDS) else {"id": self._answer.call_id(n, "fc")}
            call = {"functionCall": {**identity, "name": name, "args": found}}
            yield {**call, "thoughtSignature": sign(name)} if n == 0 else call

    def _event(self, parts: Sequence[Mapping[str, Any]], finish: str | None = None) -> Event:
        return Event(dump(self._response(parts, finish)))

    def _response(self, parts: Sequence[Mapping[str, Any]], finish: str | None) -> Mapping[str, Any]:
        told: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish:
            told["finishReason"] = finish
        usage = self._usage(self._answer.said) if finish else self._running
        blocked = self._answer.is_(Fault.FILTERED) and not self._reply.text  # the prompt, not the answer
        return {
            **({"promptFeedback": {"blockReason": "SAFETY"}} if blocked else {"candidates": [told]}),
            **({} if self._answer.is_(Fault.NO_USAGE) else {"usageMetadata": usage}),
            "modelVersion": self._answer.prompt.model,
            "responseId": self._answer.number,
        }

    def _usage(self, said: int) -> Mapping[str, Any]:
        """Return the usage. Counts cover the answer so far; only the last ones are final."""
        answer = self._answer
        usage: dict[str, Any] = {
            "promptTokenCount": answer.tokens.input,
            "candidatesTokenCount": said,
            "totalTokenCount": answer.tokens.input + said + answer.thought,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": answer.tokens.input}],
        }
        if answer.thought:
            usage["thoughtsTokenCount"] = answer.thought
        if answer.tokens.read:
            usage["cachedContentTokenCount"] = answer.tokens.read
            usage["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": answer.tokens.read}]
        return usage


class Gemini(Wire):
    """Implements `Wire`."""

    writes = _Candidate

    def key(self, http_request: HttpRequest) -> str:
        query = parse_qs(http_request.path.partition("?")[2])
        return http_request.headers.get("x-goog-api-key") or query.get("key", [""])[0] or super().key(http_request)

    def read(self, http_request: HttpRequest, request: Mapping[str, Any]) -> Prompt:
        path = http_request.path.partition("?")[0]
        found = _PATH.fullmatch(path)
        if found is None:
            raise LookupError(path)
        model = unquote(found[1])
        check(request, model)
        thinking = (request.get("generationConfig") or {}).get("thinkingConfig") or {}
        system = request.get("systemInstruction") or {"parts": []}
        return Prompt(
            model=model,
            stream=found[2] == "streamGenerateContent",
            request={**request, "model": model},
            turns=list(_turns(system, request["contents"])),
            segments=[system, request.get("tools") or [], *request["contents"]],
            thinks=bool(thinking.get("includeThoughts")),
            shows=bool(thinking.get("includeThoughts")),
            framing=Framing.ARRAY if _is_array(http_request) else Framing.SSE_CRLF,
        )

    def refuse(self, refusal: WireRefusal, number: str, http_request: HttpRequest) -> bytes:
        status, name, message = _ERRORS[refusal.cause]
        error: dict[str, Any] = {
            "code": refusal.status or status,
            "message": refusal.message or message,
            "status": name,
        }
        if details := _details(refusal):
            error["details"] = details
        if refusal.cause is Cause.RATE and refusal.wait is not None:
            error["message"] += f" Please retry in {refusal.wait:g}s."
        dated = refusal.retry_after if refusal.dated else {}
        body = [{"error": error}] if _is_array(http_request) else {"error": error}
        return make_json_response(refusal.status or status, body, {**self.headers(number), **dated})

    def headers(self, number: str, wait: float | None = None) -> Mapping[str, str]:
        return {"vary": "Origin, X-Origin, Referer", "server": "scaffolding on HTTPServer2", "server-timing": "gfet4t7"}
