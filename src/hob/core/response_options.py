"""Options of a client program for the answer to its message: own tools, response format, stop words."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that the client program runs itself. `schema` is a JSON Schema of an object."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResponseOptions:
    """Options for one answer. `choice` is `auto`, `required`, or the name of the tool to call first.

    `form` is the JSON Schema of the answer; an empty one means any JSON object, None any text. The answer ends before
    the first of the `stop` words.
    """

    tools: tuple[ClientTool, ...] = ()
    choice: str = "auto"
    form: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
