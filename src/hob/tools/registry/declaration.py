"""A tool from a typed function: the signature is its schema, the docstring its description, the decorator the rest."""

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from hob.core.argument_roles import ArgumentRole
from hob.core.content.images import Image
from hob.core.errors import ToolFailed
from hob.core.ids import BlobId
from hob.core.ports.tools import CallContext
from hob.core.tools import ALL_EFFECTS, MOST_CHARACTERS, Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.tools.registry.schemas import Member, object_schema, read_object, shape_of

F = TypeVar("F", bound=Callable[..., Awaitable["str | ToolOutput"]])

_MARK = "__hob_tool__"
_MOST_PROBLEMS = 8
_GIVEN = (ToolCall, CallContext)  # parameters of these types are handed in and not asked of the model


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives where a plain text is not enough. Without a label it has the tool's own."""

    text: str
    label: Label | None = None
    is_error: bool = False
    rest: BlobId | None = None
    remarks: tuple[Remark, ...] = ()
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the decorator says of a function."""

    name: str
    tier: Tier
    effects: frozenset[Effect]
    restart: Restart
    parallel: bool
    timeout: float
    output_cap: int
    label: Label
    roles: ArgumentRole | None


def tool(
    *,
    name: str = "",
    tier: Tier = Tier.HIGH_RISK,
    effects: frozenset[Effect] = ALL_EFFECTS,
    restart: Restart = Restart.NEVER,
    parallel: bool = False,
    timeout: float = 60.0,
    output_cap: int = MOST_CHARACTERS,
    label: Label = Label(Origin.TOOL, Trust.UNTRUSTED),
    roles: ArgumentRole | None = None,
) -> Callable[[F], F]:
    """Declare an async function a tool; `Tools` makes the calls. What is not said is taken at its worst.

    The docstring is what the model reads; a parameter's words and bounds stand in its annotation:
    `lines: Annotated[int, "How many.", Bounds(at_least=1)] = 10`. A parameter annotated `ToolCall` or `CallContext` is
    handed in. `timeout` is in seconds, `output_cap` in characters; `label` is that of results that have none. `roles`
    tell the guard what the arguments are.
    """

    def declare(function: F) -> F:
        named = name or function.__name__
        said = Declaration(named, tier, effects, restart, parallel, timeout, output_cap, label, roles)
        setattr(function, _MARK, said)
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
    """Implements `Toolset` over declared functions, in the order they are given; bound methods are functions too."""

    def __init__(self, *functions: Callable[..., Awaitable[str | ToolOutput]]) -> None:
        made = [_make(function) for function in functions]
        self._made = {each.spec.name: each for each in made}
        if len(self._made) < len(made):
            raise ValueError("two tools share a name")
        self._specs = tuple(each.spec for each in made)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What was declared; the very same tuple each time."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Check the arguments and call the function. Raises ToolFailed with everything that is wrong with them."""
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
    """The call's arguments as the function's parameters, those handed in left out. Raises ToolFailed."""
    return _arguments(_make(function), call)


def _arguments(made: _Made, call: ToolCall) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolFailed(f"the arguments are not JSON ({error}). {_usage(made)}") from error
    problems: list[str] = []
    arguments = read_object(made.members, value, "", problems)
    if problems:
        raise ToolFailed(f"{'; '.join(problems[:_MOST_PROBLEMS])}. {_usage(made)}")
    return arguments


def _make(function: Callable[..., Awaitable[str | ToolOutput]]) -> _Made:
    said: Declaration | None = getattr(function, _MARK, None)
    if said is None:
        raise TypeError(f"{function!r} is not declared with @tool(...)")
    hints = get_type_hints(function, include_extras=True)
    members: list[Member] = []
    given: list[tuple[str, type]] = []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name)
        if hint is None or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{said.name}: the parameter {parameter.name} needs a name and an annotation")
        plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if plain in _GIVEN:
            given.append((parameter.name, plain))
            continue
        members.append(Member(parameter.name, shape_of(hint), parameter.default is parameter.empty))
    description = inspect.cleandoc(function.__doc__ or "")
    if not description:
        raise TypeError(f"{said.name} has no docstring: the model would not know what it does")
    spec = ToolSpec(
        name=said.name,
        description=description,
        schema=object_schema(members),
        tier=said.tier,
        effects=said.effects,
        restart=said.restart,
        parallel=said.parallel,
        timeout=said.timeout,
        output_cap=said.output_cap,
        roles=said.roles,
    )
    return _Made(spec, function, tuple(members), tuple(given), said.label)


def _usage(made: _Made) -> str:
    parts = [f"{member.name}{'' if member.required else ' (optional)'}" for member in made.members]
    return f"{made.spec.name} takes {', '.join(parts) or 'nothing'}."
