"""The page of tools, as the model and the guard see them."""

from collections.abc import Iterator, Mapping
from typing import Any

from markdown import cell
from wording import EFFECTS, RESTARTS, TIERS

from hob.app.subsystems import TOOL_GROUPS
from hob.core.tools import Effect, Restart, Tier, ToolSpec
from hob.testing.toolset import FunctionTool, FunctionTools
from hob.tools.registry.groups import LOAD, grouped


def tools() -> str:
    """Return every tool that Hob's own features declare."""
    specs = {spec.name: spec for group in TOOL_GROUPS for spec in group.tools}
    registry = grouped(TOOL_GROUPS, [FunctionTools(*(FunctionTool(spec, _nothing) for spec in specs.values()))])
    shown = registry.specs()
    announced = next(spec.description for spec in shown if spec.name == LOAD)
    lines = [
        "# Tools",
        "",
        "What the model may call. It sees descriptions and arguments as they stand here. What a call does, its",
        "effects, is judged by the [policy](../explanation/policy.md) before each call. To add tools,",
        "[write a toolset](../how-to/write-a-toolset.md).",
        "",
        f"{len(shown)} tools are always shown. The others stand in groups, which `{LOAD}` opens for a session:",
        "in each request a closed group costs one line.",
        "",
        "| tool | group | tier | effects | after a crash | seconds | characters |",
        "|---|---|---|---|---|---|---|",
    ]
    specs = dict(registry.named())
    lines += [_row(spec, registry.group_of(spec.name)) for spec in specs.values()]
    lines += ["", *_legend(), "", *_announced(announced)]
    for spec in specs.values():
        lines += ["", f"## `{spec.name}`", "", *_described(spec), "", *_arguments(spec)]
    return "\n".join(lines)


async def _nothing(_: Mapping[str, Any]) -> str:
    return ""


def _row(spec: ToolSpec, group: str) -> str:
    effects = ", ".join(f"`{effect}`" for effect in Effect if effect in spec.effects)
    link = f"[`{spec.name}`](#{spec.name})"
    numbers = (f"{spec.timeout:g}", f"{spec.output_cap:,}")
    cells = (link, group, str(spec.tier.value), effects, spec.restart.value, *numbers)
    return f"| {' | '.join(cells)} |"


def _legend() -> Iterator[str]:
    yield "*Tier*: " + "; ".join(f"{tier.value} {TIERS[tier]}" for tier in Tier) + "."
    yield "*After a crash* with an unknown outcome: " + "; ".join(f"`{way}` {RESTARTS[way]}" for way in Restart) + "."
    yield "*Seconds*: how long a call may take at most. *Characters*: what is shown of its output; the rest is"
    yield "kept, and `read` reads on in it."
    yield ""
    yield "| effect | the call |"
    yield "|---|---|"
    yield from (f"| `{effect}` | {EFFECTS[effect]} |" for effect in Effect)


def _announced(description: str) -> Iterator[str]:
    yield "| group | as it is announced |"
    yield "|---|---|"
    for line in description.splitlines()[1:]:
        name, _, text = line.partition(": ")
        yield f"| {name} | {cell(text)} |"


def _described(spec: ToolSpec) -> list[str]:
    if spec.name == LOAD:  # the groups are listed above
        return [spec.description.partition(" Groups:")[0]]
    return spec.description.splitlines()


def _arguments(spec: ToolSpec) -> Iterator[str]:
    properties: Mapping[str, Any] = spec.schema.get("properties", {})
    if not properties:
        yield "It takes nothing."
        return
    yield "| argument | type | meaning |"
    yield "|---|---|---|"
    for name, schema in properties.items():
        need = "" if name in spec.schema.get("required", ()) else " (optional)"
        yield f"| `{name}`{need} | {cell(_type(schema))} | {_text(schema.get('description', ''))} |"


def _text(words: str) -> str:
    return cell(words).replace("*", "\\*")


def _type(schema: Mapping[str, Any]) -> str:
    """Return a schema in a few words."""
    if choices := schema.get("enum"):
        return " or ".join(f"`{choice}`" for choice in choices)
    if parts := schema.get("anyOf"):
        return " or ".join(map(_type, parts))
    kinds = schema.get("type", "any")
    kind = kinds if isinstance(kinds, str) else " or ".join(each for each in kinds if each != "null")
    if kind == "array":
        kind = f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and schema.get("properties"):
        kind = "object of " + ", ".join(f"`{name}`" for name in schema["properties"])
    bounds = [schema.get(key) for key in ("minimum", "maximum")]
    if any(bound is not None for bound in bounds):
        low, high = bounds
        kind += f", {low if low is not None else ''} to {high}" if high is not None else f", at least {low}"
    return kind
