"""What OpenAI refuses a Responses request for. Items: https://platform.openai.com/docs/api-reference/responses/create"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.testing.model_server import openai
from hob.testing.model_server.prompt import Turn
from hob.testing.model_server.signatures import unseal
from hob.testing.model_server.wire import Cause, WireRefusal, WireRefused, bad

Item = Mapping[str, Any]

_PARTS: Mapping[str, tuple[str, ...]] = {
    "user": ("input_text", "input_image", "input_file"),
    "system": ("input_text", "input_image", "input_file"),
    "developer": ("input_text", "input_image", "input_file"),
    "assistant": ("output_text", "refusal"),
}
_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs", "additional_tools": "at"}
_LEAST_OUTPUT = 16


def items_of(request: Mapping[str, Any]) -> list[Item]:
    """The input as a list of items; a string is a user's message. Raises Refused."""
    found = request.get("input")
    if isinstance(found, str):
        return [{"type": "message", "role": "user", "content": found}]
    if not isinstance(found, list) or not found:
        raise bad("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    return found


def turns(request: Mapping[str, Any], items: Sequence[Item]) -> Iterator[Turn]:
    """What is said in it."""
    if request.get("instructions"):
        yield Turn("system", request["instructions"])
    for item in items:
        match item.get("type", "message"):
            case "message":
                role = item["role"]
                yield Turn("system" if role == "developer" else role, _text(item["content"]))
            case "function_call":
                yield Turn("assistant", "")
            case "function_call_output":
                yield Turn("tool", _text(item["output"]))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if "text" in part)


def check(request: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Raises Refused."""
    most = request.get("max_output_tokens")
    if most is not None and most < _LEAST_OUTPUT:
        message = f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {most}."
        raise bad(message, "max_output_tokens", "integer_below_min_value")
    if request.get("previous_response_id"):
        message = f"Previous response with id '{request['previous_response_id']}' not found."
        raise bad(message, "previous_response_id", "previous_response_not_found")
    if request.get("tools"):
        openai.check_tools(request["tools"])
    _check_items(items, stored=request.get("store") is not False)


def _check_items(items: Sequence[Item], *, stored: bool) -> None:
    asked: set[str] = set()
    answered: set[str] = set()
    ids: set[str] = set()
    for number, item in enumerate(items):
        where = f"input[{number}]"
        kind = item.get("type", "message")
        _check_id(item, kind, where, ids)
        match kind:
            case "message":
                _check_message(item, where)
            case "function_call":
                openai.check_name(item["name"], f"{where}.name")
                if not isinstance(item["arguments"], str):
                    raise bad(f"Invalid type for '{where}.arguments'.", f"{where}.arguments", "invalid_type")
                asked.add(item["call_id"])
            case "function_call_output":
                if item["call_id"] not in asked:
                    message = f"No tool call found for function call output with call_id {item['call_id']}."
                    raise bad(message, "input")
                answered.add(item["call_id"])
            case "additional_tools":  # tools told in the input instead of beside it, as Codex does
                if item.get("role") != "developer" or not isinstance(item.get("tools"), list):
                    raise bad(f"Invalid value for '{where}'.", where, "invalid_value")
            case "reasoning":
                _check_reasoning(item, items[number + 1 : number + 2], stored=stored)
            case _:
                raise bad(f"Invalid value: '{kind}'.", f"{where}.type", "invalid_value")
    if asked - answered:
        raise bad(f"No tool output found for function call {min(asked - answered)}.", "input")


def _check_id(item: Item, kind: str, where: str, ids: set[str]) -> None:
    found = item.get("id")
    if found is None:
        return
    prefix = _PREFIXES.get(kind, "")
    if not isinstance(found, str) or not found.startswith(prefix):
        raise bad(f"Invalid '{where}.id': '{found}'. Expected an ID that begins with '{prefix}'.", f"{where}.id")
    if found in ids:
        raise bad(f"Duplicate item found with id {found}. Remove duplicate items and try again.", "input")
    ids.add(found)


def _check_message(item: Item, where: str) -> None:
    if item["role"] not in _PARTS:
        raise bad(f"Invalid value: '{item['role']}'.", f"{where}.role", "invalid_value")
    if isinstance(item["content"], str):
        return
    allowed = _PARTS[item["role"]]
    for place, part in enumerate(item["content"]):
        if part["type"] not in allowed:
            supported = ", ".join(f"'{name}'" for name in allowed)
            message = f"Invalid value: '{part['type']}'. Supported values are: {supported}."
            raise bad(message, f"{where}.content[{place}]", "invalid_value")


def _check_reasoning(item: Item, following: Sequence[Item], *, stored: bool) -> None:
    """It stands before what was said or called after it, and is sealed, or kept by the server."""
    name = item["id"]
    if not isinstance(item["summary"], list):
        raise bad("Missing required parameter: 'input.summary'.", "input", "missing_required_parameter")
    sealed = item.get("encrypted_content")
    if sealed is None and not stored:
        message = f"Item with id '{name}' not found. Items are not persisted when `store` is set to false."
        raise WireRefused(WireRefusal(Cause.NO_MODEL, message, "input"))
    if sealed is not None and unseal(sealed) is None:
        message = f"The encrypted content for item {name} could not be verified."
        raise bad(message, None, "invalid_encrypted_content")
    then = following[0] if following else {}
    own = then.get("type", "message") == "message" and then.get("role") == "assistant"
    if not own and then.get("type") not in ("function_call", "reasoning"):
        raise bad(f"Item '{name}' of type 'reasoning' was provided without its required following item.", "input")
