"""Arguments of past calls, for wires that send them back as objects."""

import json
from typing import Any, NoReturn

from hob.providers.nesting import is_deep


def read_arguments(text: str) -> dict[str, Any]:
    """The object that a model wrote; what is none, as `{"malformed": text}`: the model sees what it did."""
    try:
        arguments = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) and not is_deep(arguments, text) else {"malformed": text}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
