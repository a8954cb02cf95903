"""What Gemini refuses a request for.

Schemas are a subset of OpenAPI's: https://ai.google.dev/api/caching#Schema. Order of calls and results:
https://ai.google.dev/gemini-api/docs/function-calling. Signatures: .../gemini-api/docs/thought-signatures.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hob.testing.model_server.signatures import is_signed
from hob.testing.model_server.wire import bad, words

_FIELDS = words(
    """
    contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent model labels serviceTier
    store
    """
)
_GENERATION = words(
    """
    stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens
    temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers
    speechConfig thinkingConfig imageConfig mediaResolution
    """
)
_DECLARATION = words("name description behavior parameters parametersJsonSchema response responseJsonSchema")
_SCHEMA = words(
    """
    type format title description nullable enum maxItems minItems properties required minProperties maxProperties
    minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum
    """
)
_TYPES = words("STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL")
_DATA = words("text inlineData fileData functionCall functionResponse executableCode codeExecutionResult")
_PART = _DATA | {"thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"}
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
# Documented stand-ins for a signature that never was.
_UNSIGNED = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")


def check(request: Mapping[str, Any], model: str) -> None:
    """Raises Refused."""
    _check_names(request, _FIELDS, "")
    _check_names(request.get("generationConfig") or {}, _GENERATION, "generation_config")
    for number, tool in enumerate(request.get("tools") or ()):
        for place, declaration in enumerate(tool.get("functionDeclarations") or ()):
            _check_declaration(declaration, f"tools[{number}].function_declarations[{place}]")
    contents = request.get("contents")
    if not isinstance(contents, list) or not contents:
        raise bad("* GenerateContentRequest.contents: contents is not specified\n")
    for number, content in enumerate(contents):
        _check_content(content, f"contents[{number}]")
    _check_order(contents)
    if not model.startswith(("gemini-1", "gemini-2")):
        _check_signatures(contents)


def _check_names(found: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    for name in found:
        if name not in known:
            at = f" at '{where}'" if where else ""
            raise bad(f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.', where or name)


def _check_declaration(declaration: Mapping[str, Any], where: str) -> None:
    _check_names(declaration, _DECLARATION, where)
    if not _NAME.fullmatch(declaration["name"]):
        raise bad(
            f"* GenerateContentRequest.{where}.name: Invalid function name. Must start with a letter or an underscore. "
            "Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a "
            "maximum length of 64.\n"
        )
    if "parameters" in declaration and "parametersJsonSchema" in declaration:
        raise bad(f"{where}: only one of parameters and parameters_json_schema may be set", where)
    if "parameters" in declaration:
        check_schema(declaration["parameters"], f"{where}.parameters")


def check_schema(schema: Mapping[str, Any], where: str) -> None:
    """A schema in `parameters`. Raises Refused."""
    _check_names(schema, _SCHEMA, where)
    kind = schema.get("type")
    if kind is not None and not isinstance(kind, str):
        raise bad(f"Invalid JSON payload received. Unknown name \"type\" at '{where}': Proto field is not repeating.")
    kind = (kind or "").upper()
    if kind and kind not in _TYPES:
        raise bad(f"Invalid value at '{where}.type' (type.googleapis.com/google.ai.Type), \"{schema['type']}\"", where)
    if "enum" in schema and (kind != "STRING" or not all(isinstance(value, str) for value in schema["enum"])):
        raise bad(f"* GenerateContentRequest.{where}.enum: only allowed for STRING type\n")
    if kind == "STRING" and schema.get("format", "enum") not in ("enum", "date-time"):
        raise bad(f"* GenerateContentRequest.{where}.format: only 'enum' and 'date-time' are supported for STRING\n")
    if kind == "ARRAY" and "items" not in schema:
        raise bad(f"* GenerateContentRequest.{where}.items: missing field.\n")
    properties = schema.get("properties") or {}
    if kind == "OBJECT" and not properties:
        raise bad(f"* GenerateContentRequest.{where}.properties: should be non-empty for OBJECT type\n")
    for place, name in enumerate(schema.get("required") or ()):
        if name not in properties:
            raise bad(f"* GenerateContentRequest.{where}.required[{place}]: property is not defined\n")
    for name, part in properties.items():
        check_schema(part, f"{where}.properties[{name}].value")
    if "items" in schema:
        check_schema(schema["items"], f"{where}.items")
    for place, part in enumerate(schema.get("anyOf") or ()):
        check_schema(part, f"{where}.any_of[{place}]")


def _check_content(content: Mapping[str, Any], where: str) -> None:
    _check_names(content, frozenset({"role", "parts"}), where)
    if content.get("role", "user") not in ("user", "model", "function"):
        raise bad("Please use a valid role: user, model.")
    if not content.get("parts"):
        raise bad(f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.\n")
    for place, part in enumerate(content["parts"]):
        at = f"{where}.parts[{place}]"
        _check_names(part, _PART, at)
        if len(_DATA & part.keys()) != 1:
            raise bad(f"* GenerateContentRequest.{at}.data: required oneof field 'data' must have one field")
        if "functionCall" in part:
            _check_names(part["functionCall"], frozenset({"id", "name", "args"}), f"{at}.function_call")
            if not isinstance(part["functionCall"].get("args", {}), dict):
                raise bad(f"Invalid value at '{at}.function_call.args' (type.googleapis.com/google.protobuf.Struct)")
        if "functionResponse" in part:
            response = part["functionResponse"]
            known = frozenset({"id", "name", "response", "parts", "willContinue", "scheduling"})
            _check_names(response, known, f"{at}.function_response")
            if not response.get("name"):
                raise bad(f"* GenerateContentRequest.{at}.function_response.name: Name cannot be empty.\n")
            if not isinstance(response["response"], dict):
                raise bad(f"Invalid value at '{at}.function_response.response' (google.protobuf.Struct)")


def _count(content: Mapping[str, Any] | None, kind: str) -> int:
    return sum(kind in part for part in content["parts"]) if content else 0


def _check_order(contents: Sequence[Mapping[str, Any]]) -> None:
    """A turn of calls follows a user's turn or results; a turn of results follows its calls, one for each."""
    for number, content in enumerate(contents):
        before = contents[number - 1] if number else None
        after = contents[number + 1] if number + 1 < len(contents) else None
        calls, results = _count(content, "functionCall"), _count(content, "functionResponse")
        if calls and (before is None or before.get("role", "user") == "model"):
            raise bad(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        if results and not _count(before, "functionCall"):
            raise bad("Please ensure that function response turn comes immediately after a function call turn.")
        if calls and _count(after, "functionResponse") != calls:
            raise bad(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        if results and before is not None:
            _check_answers(before, content)


def _check_answers(calls: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    asked = [part["functionCall"] for part in calls["parts"] if "functionCall" in part]
    given = [part["functionResponse"] for part in results["parts"] if "functionResponse" in part]
    if sorted(call["name"] for call in asked) != sorted(result["name"] for result in given):
        raise bad("Please ensure that the names of the function responses are those of the function calls.")


def _check_signatures(contents: Sequence[Mapping[str, Any]]) -> None:
    """In the current turn (all after the last words of the user) the first call of each step must bear its own."""
    said = [n for n, content in enumerate(contents) if content.get("role", "user") != "model" and _is_said(content)]
    for number in range(said[-1] + 1 if said else 0, len(contents)):
        first = next(((n, part) for n, part in enumerate(contents[number]["parts"]) if "functionCall" in part), None)
        if first is None:
            continue
        place, part = first
        name = part["functionCall"]["name"]
        signature = part.get("thoughtSignature")
        if not signature:
            raise bad(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                f"work correctly. Additional data, function call `default_api:{name}` , position {place + 1}."
            )
        if signature not in _UNSIGNED and not is_signed(name, signature):
            raise bad("Corrupted thought signature.")


def _is_said(content: Mapping[str, Any]) -> bool:
    return any("functionResponse" not in part for part in content["parts"])
