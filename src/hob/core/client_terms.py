"""What a program asks of the answer to its message: tools of its own, a form, words at which it ends."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that the calling program performs itself. `schema` is a JSON Schema of an object."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClientTerms:
    """`choice` is `auto`, `required`, or the name of the tool that is to be called first.

    `form` is a JSON Schema that the answer fits, an empty one any JSON object, None any text; the answer ends before
    the first of the words of `stop`.
    """

    tools: tuple[ClientTool, ...] = ()
    choice: str = "auto"
    form: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
