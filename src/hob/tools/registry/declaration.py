"""Tools from typed functions, checked to accept what the tool's schema says.

Hob's own tools are declared as data (`@implements(SPEC)`), readable without importing the functions. Other programs can
use `@tool(...)`, with which the signature becomes the schema, the docstring the description, and the decorator's
arguments the rest.
"""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from hob.core.argument_roles import ArgumentRole
from hob.core.content.images import Image
from hob.core.errors import ToolFailed
from hob.core.ids import BlobId
from hob.core.ports.tools import CallContext
from hob.core.tools import ALL_EFFECTS, MAX_CHARACTERS, Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.tools.registry.schemas import Member, object_schema, read_object, shape_of, with_words

F = TypeVar("F", bound=Callable[..., Awaitable["str | ToolOutput"]])

_MARK = "__hob_tool__"
_MAX_PROBLEMS = 8
_GIVEN = (ToolCall, CallContext)  # parameters of these types are injected, not part of the schema


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool's output beyond plain text. Without a label of its own it gets the tool's."""

    text: str
    label: Label | None = None
    is_error: bool = False
    rest: BlobId | None = None
    remarks: tuple[Remark, ...] = ()
    images: tuple[Image, ...] = ()


class Declaration(NamedTuple):
    """The declaration of a function: a complete spec, or, if `whole` is false, the part that the function does not
    state.
    """

    spec: ToolSpec
    label: Label
    whole: bool


def implements(spec: ToolSpec, label: Label = Label(Origin.TOOL, Trust.UNTRUSTED)) -> Callable[[F], F]:
    """Declare an async function as the implementation of a spec; its parameters match the schema.

    Parameters annotated `ToolCall` or `CallContext` are injected. `label` applies to results without one.
    """

    def declare(function: F) -> F:
        setattr(function, _MARK, Declaration(spec, label, whole=True))
        return function

    return declare


def tool(
    *,
    name: str = "",
    tier: Tier = Tier.HIGH_RISK,
    effects: frozenset[Effect] = ALL_EFFECTS,
    restart: Restart = Restart.NEVER,
    parallel: bool = False,
    timeout: float = 60.0,
    output_cap: int = MAX_CHARACTERS,
    label: Label = Label(Origin.TOOL, Trust.UNTRUSTED),
    roles: ArgumentRole | None = None,
) -> Callable[[F], F]:
    """Declare an async function as a tool for `Tools`. Anything unstated gets the most cautious value.

    The docstring is the description that models read; descriptions and bounds of parameters are in their annotations:
    `lines: Annotated[int, "How many.", Bounds(at_least=1)] = 10`. Parameters annotated `ToolCall` or `CallContext` are
    injected. `timeout` is in seconds, `output_cap` in characters; `label` applies to results without one. `roles` tell
    the
    guard what the arguments mean.
    """

    def declare(function: F) -> F:
        named, words = name or function.__name__, inspect.cleandoc(function.__doc__ or "")
        spec = ToolSpec(named, words, {}, tier, effects, restart, parallel, timeout, output_cap, roles)
        setattr(function, _MARK, Declaration(spec, label, whole=False))
        return function

    return declare


@dataclass(frozen=True, slots=True)
class _Made:
    spec: ToolSpec
    function: Callable[..., Awaitable[str | ToolOutput]]
    members: tuple[Member, ...]
    given: tuple[tuple[str, type], ...]
    label: Label


class Tools:
    """Implements `Toolset` over declared functions and bound methods, in the given order."""

    def __init__(self, *functions: Callable[..., Awaitable[str | ToolOutput]]) -> None:
        made = [_make(function) for function in functions]
        self._made = {each.spec.name: each for each in made}
        if len(self._made) < len(made):
            raise ValueError("two tools share a name")
        self._specs = tuple(each.spec for each in made)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the declared specs, as the same tuple each time."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Check the arguments and call the function. Raises ToolFailed naming everything wrong with them."""
        made = self._made.get(call.name)
        if made is None:
            raise ToolFailed(f"there is no tool {call.name}")
        arguments = _arguments(made, call)
        for name, kind in made.given:
            arguments[name] = call if kind is ToolCall else context
        output = await made.function(**arguments)
        if isinstance(output, str):
            return ToolResult(call.id, output, made.label)
        label = output.label or made.label
        return ToolResult(call.id, output.text, label, output.is_error, output.rest, output.remarks, output.images)


def arguments_of(function: Callable[..., Any], call: ToolCall) -> dict[str, Any]:
    """Parse a call's arguments into the function's parameters, without injected ones. Raises ToolFailed."""
    return _arguments(_make(function), call)


def _arguments(made: _Made, call: ToolCall) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolFailed(f"the arguments are not JSON ({error}). {_usage(made)}") from error
    problems: list[str] = []
    arguments = read_object(made.members, value, "", problems)
    if problems:
        raise ToolFailed(f"{'; '.join(problems[:_MAX_PROBLEMS])}. {_usage(made)}")
    return arguments


def _make(function: Callable[..., Awaitable[str | ToolOutput]]) -> _Made:
    said: Declaration | None = getattr(function, _MARK, None)
    if said is None:
        raise TypeError(f"{function!r} is not declared with @tool(...)")
    spec, hints = said.spec, get_type_hints(function, include_extras=True)
    told = spec.schema.get("properties", {})
    members: list[Member] = []
    given: list[tuple[str, type]] = []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name)
        if hint is None or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{spec.name}: the parameter {parameter.name} needs a name and an annotation")
        plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if plain in _GIVEN:
            given.append((parameter.name, plain))
            continue
        shape = with_words(shape_of(hint), told.get(parameter.name, {}))
        members.append(Member(parameter.name, shape, parameter.default is parameter.empty))
    if not spec.description:
        raise TypeError(f"{spec.name} has no docstring: the model would not know what it does")
    schema = object_schema(members)
    if not said.whole:
        spec = replace(spec, schema=schema)
    elif schema != spec.schema:
        raise TypeError(f"{spec.name} takes {schema}, and its spec says {spec.schema}")
    return _Made(spec, function, tuple(members), tuple(given), said.label)


def _usage(made: _Made) -> str:
    parts = [f"{member.name}{'' if member.required else ' (optional)'}" for member in made.members]
    return f"{made.spec.name} takes {', '.join(parts) or 'nothing'}."
