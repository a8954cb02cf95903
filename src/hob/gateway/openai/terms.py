"""Terms of a request: client tools, response format, stop words.

Format: https://platform.openai.com/docs/guides/function-calling and /structured-outputs.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hob.core.messages import Quoted
from hob.core.response_options import ClientTool, ResponseOptions
from hob.gateway.openai.conversation import CLIENT_LABEL
from hob.gateway.openai.errors import wrong

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MAX_TOOLS = 128
_MAX_BYTES = 200_000
_MAX_STOPS = 4


def read_terms(tools: Any, choice: Any, form: Any, stop: Any, form_name: str) -> ResponseOptions | None:
    """Read the terms; None if the request has none. Raises HttpRefusal, naming the field."""
    made = _tools(tools) if choice != "none" else ()
    chosen = _choice(choice, made)
    schema, words = _form(form, form_name), _stop(stop)
    if not made and schema is None and not words:
        return None
    return ResponseOptions(made, chosen, schema, words)


def is_checked(terms: ResponseOptions | None) -> bool:
    """Return whether an answer is sent only when it is complete."""
    return terms is not None and (terms.form is not None or bool(terms.stop))


def form_note(terms: ResponseOptions | None) -> tuple[Quoted, ...]:
    """Return the note that tells the model about the response format."""
    if terms is None or terms.form is None:
        return ()
    fits = f" that fits this JSON Schema:\n{json.dumps(terms.form, ensure_ascii=False)}" if terms.form else "."
    return (Quoted(f"The calling program takes only a JSON object, nothing before or after it{fits}", CLIENT_LABEL),)


def _tools(tools: Any) -> tuple[ClientTool, ...]:
    if tools is None:
        return ()
    if not isinstance(tools, list) or len(tools) > _MAX_TOOLS:
        raise wrong("tools", f"it must be a list of at most {_MAX_TOOLS} tools")
    if len(json.dumps(tools)) > _MAX_BYTES:
        raise wrong("tools", f"they are too long; send at most {_MAX_BYTES} bytes of them")
    made = tuple(_tool(each, f"tools[{place}]") for place, each in enumerate(tools))
    if len({each.name for each in made}) < len(made):
        raise wrong("tools", "two tools share a name")
    return made


def _tool(tool: Any, param: str) -> ClientTool:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise wrong(param, "only tools of the type `function` can be called; Hob has others of its own")
    inner = tool.get("function")
    said: Mapping[str, Any] = inner if isinstance(inner, dict) else tool
    name, schema = said.get("name"), said.get("parameters") or {}
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise wrong(f"{param}.name", "a name has 1 to 64 letters, digits, _ and -")
    if not isinstance(schema, dict):
        raise wrong(f"{param}.parameters", "it must be a JSON Schema of an object")
    schema = {"type": "object", "properties": {}, **schema}
    return ClientTool(name, str(said.get("description") or ""), schema)


def _choice(choice: Any, tools: Sequence[ClientTool]) -> str:
    if choice in (None, "auto", "none"):
        return "auto"
    if choice == "required" and tools:
        return "required"
    if isinstance(choice, dict) and choice.get("type") == "function":
        inner = choice.get("function")
        name = (inner if isinstance(inner, dict) else choice).get("name")
        if name in {tool.name for tool in tools}:
            return str(name)
    raise wrong("tool_choice", "it must be `none`, `auto`, `required`, or name one of the tools")


def _form(form: Any, param: str) -> Mapping[str, Any] | None:
    kind = form.get("type") if isinstance(form, dict) else None
    if form is None or kind == "text":
        return None
    if kind == "json_object":
        return {}
    if kind == "json_schema":
        inner = form.get("json_schema")
        schema = (inner if isinstance(inner, dict) else form).get("schema")
        if isinstance(schema, dict) and len(json.dumps(schema)) <= _MAX_BYTES:
            return schema
        raise wrong(f"{param}.schema", f"it must be a JSON Schema of at most {_MAX_BYTES} bytes")
    raise wrong(param, "its type must be `text`, `json_object` or `json_schema`")


def _stop(stop: Any) -> tuple[str, ...]:
    words = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(words, list) or len(words) > _MAX_STOPS or not all(isinstance(word, str) for word in words):
        raise wrong("stop", f"it must be a text, or a list of at most {_MAX_STOPS}")
    return tuple(word for word in words if word)
