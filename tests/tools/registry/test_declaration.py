"""Typed functions as tools: schema, checks, declared properties."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest

from hob.core.errors import ToolFailed
from hob.core.ids import CallId
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ALL_EFFECTS, Effect, Restart, Tier, ToolCall, ToolSpec
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.testing.toolset_check import check_toolset
from hob.tools.registry.declaration import ToolOutput, Tools, implements, tool
from hob.tools.registry.schemas import Bounds, shape_of
from tests.tools.calling import context, made


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Stop:
    town: Annotated[str, "Where to."]
    nights: int = 1


@tool(tier=Tier.READ, effects=frozenset({Effect.READS_PRIVATE}), restart=Restart.AGAIN, parallel=True, timeout=5)
async def travel(
    stops: Annotated[list[Stop], "Where to go.", Bounds(at_least=1, at_most=3)],
    by: Literal["train", "boat"] = "train",
    colour: Colour | None = None,
    factor: Annotated[float, Bounds(at_least=0)] = 1,
    quickly: bool = False,
    notes: dict[str, str] | None = None,
) -> str:
    """Plan a journey."""
    return f"{stops} {by} {colour!r} {factor} {quickly} {notes}"


@tool()
async def named(word: str, call: ToolCall, context: CallContext) -> ToolOutput:
    """Say who called."""
    return ToolOutput(f"{word} {call.id} {context.turn.id}", HOB_LABEL)


def test_schema_matches_the_signature() -> None:
    (spec,) = Tools(travel).specs()
    assert spec.schema == {
        "type": "object",
        "properties": {
            "stops": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "town": {"type": "string", "description": "Where to."},
                        "nights": {"type": "integer"},
                    },
                    "required": ["town"],
                },
                "description": "Where to go.",
                "minItems": 1,
                "maxItems": 3,
            },
            "by": {"type": "string", "enum": ["train", "boat"]},
            "colour": {"type": "string", "enum": ["red", "blue"]},
            "factor": {"type": "number", "minimum": 0},
            "quickly": {"type": "boolean"},
            "notes": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
        },
        "required": ["stops"],
    }
    assert (spec.name, spec.description, spec.tier, spec.timeout) == ("travel", "Plan a journey.", Tier.READ, 5)
    assert spec.parallel
    assert spec.restart is Restart.AGAIN


async def test_values_arrive_as_their_declared_types() -> None:
    result = await made(Tools(travel), "travel", stops=[{"town": "Rome", "nights": 2.0}], colour="red", factor=2)
    assert result.text == "[Stop(town='Rome', nights=2)] train <Colour.RED: 'red'> 2.0 False None"


async def test_all_argument_errors_are_reported_at_once() -> None:
    with pytest.raises(ToolFailed) as told:
        await made(
            Tools(travel),
            "travel",
            stops=[{"town": 5, "nigths": 1}],
            by="plane",
            quickly=1,
            factor=-1,
            color="red",
        )
    assert str(told.value) == (
        "color is not a parameter; did you mean colour; "
        "stops[0].nigths is not a parameter; did you mean stops[0].nights; "
        "stops[0].town must be a text, not a number (5); "
        'by must be one of "train", "boat"; '
        "factor must be at least 0, not -1; "
        "quickly must be true or false, not a number (1). "
        "travel takes stops, by (optional), colour (optional), factor (optional), quickly (optional), notes (optional)."
    )


@pytest.mark.parametrize("arguments", ["{", "[]", "null", '"x"', "{" * 100_000])
async def test_schema_must_be_an_object(arguments: str) -> None:
    with pytest.raises(ToolFailed, match="arguments"):
        await Tools(travel).call(ToolCall(CallId("c"), "travel", arguments), context())


async def test_list_that_is_too_short_is_refused() -> None:
    with pytest.raises(ToolFailed, match="stops must have a length of at least 1, not 0"):
        await made(Tools(travel), "travel", stops=[])


async def test_call_and_context_are_injected() -> None:
    tools = Tools(named)
    assert list(tools.specs()[0].schema["properties"]) == ["word"]
    result = await made(tools, "named", word="hi")
    assert (result.text, result.label) == ("hi c t_here", HOB_LABEL)


async def test_undeclared_properties_get_the_most_cautious_values() -> None:
    (spec,) = Tools(named).specs()
    assert (spec.tier, spec.effects, spec.restart, spec.parallel) == (
        Tier.HIGH_RISK,
        ALL_EFFECTS,
        Restart.NEVER,
        False,
    )
    assert (await made(Tools(travel), "travel", stops=[{"town": "x"}])).label == Label(Origin.TOOL, Trust.UNTRUSTED)


@pytest.mark.parametrize("hint", [bytes, set[str], dict[int, str], tuple[int, str], object])
def test_unsupported_type_fails_at_declaration(hint: Any) -> None:
    with pytest.raises(TypeError, match="cannot be a parameter"):
        shape_of(hint)


def test_function_without_docstring_is_refused() -> None:
    @tool()
    async def silent(text: str) -> str:
        return text

    with pytest.raises(TypeError, match="no docstring"):
        Tools(silent)


def test_function_must_match_its_spec() -> None:
    spec = Tools(travel).specs()[0]

    @implements(replace(spec, name="journey"))
    async def journey(
        stops: list[Stop],
        by: Literal["train", "boat"] = "train",
        colour: Colour | None = None,
        factor: float = 1,
        quickly: bool = False,
        notes: dict[str, str] | None = None,
    ) -> str:
        return f"{stops} {by} {colour} {factor} {quickly} {notes}"

    @implements(replace(spec, name="stroll"))
    async def stroll(stops: list[str]) -> str:
        return f"{stops}"

    assert Tools(journey).specs()[0].schema == spec.schema
    with pytest.raises(TypeError, match=r"stroll takes .* and its spec says"):
        Tools(stroll)


async def test_bounds_of_a_spec_are_enforced() -> None:
    @implements(ToolSpec("wait", "Wait.", {"type": "object", "properties": {"s": {"type": "integer", "maximum": 9}}}))
    async def wait(s: int = 1) -> str:
        return f"{s}"

    assert (await made(Tools(wait), "wait", s=9)).text == "9"
    with pytest.raises(ToolFailed, match="s must be at most 9, not 10"):
        await made(Tools(wait), "wait", s=10)


@asynccontextmanager
async def declared() -> AsyncIterator[Toolset]:
    yield Tools(travel, named)


async def test_declared_tools_keep_the_contract() -> None:
    await check_toolset(declared, {"travel": {"stops": [{"town": "Rome"}]}, "named": {"word": "hi"}})
