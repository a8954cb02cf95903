"""The page of the tools: each as the model and the guard have it, opened as Hob opens them."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from markdown import cell
from wording import EFFECTS, RESTARTS, TIERS

from hob.app.settings_sections import SECTIONS
from hob.app.tools.lazy_runtime import LazyToolRuntime, open_tool_runtime
from hob.bus.notices import Hub
from hob.config.loading import load_config
from hob.core.clock import SystemClock
from hob.core.tools import Effect, Restart, Tier, ToolSpec
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.tools.registry.builtin_specs import dump_specs
from hob.tools.registry.groups import LOAD


def tools() -> str:
    """Every tool of a new home."""
    return asyncio.run(_opened(_page))


def known_tools() -> str:
    """What `hob.tools.registry.builtin_specs` reads: the tools as they are made."""
    return asyncio.run(_opened(lambda tool_runtime: dump_specs(tool_runtime.made().toolset.specs())))


async def _opened(write: Callable[[LazyToolRuntime], str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        home, clock = Path(folder), SystemClock()
        config = load_config(SECTIONS, home=home, environ={})
        async with (
            open_store(home, config[StoreSettings], clock) as store,
            open_tool_runtime(config, store, Hub(), clock, {}) as tool_runtime,
        ):
            return write(tool_runtime)


def _page(tool_runtime: LazyToolRuntime) -> str:
    shown = tool_runtime.groups.specs()
    announced = next((spec.description for spec in shown if spec.name == LOAD), "")
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
    groups = {**dict.fromkeys((spec.name for spec in shown), ""), **_groups(tool_runtime)}
    specs = tool_runtime.named()
    lines += [_row(spec, groups[spec.name]) for spec in specs.values()]
    lines += ["", *_legend(), "", *_announced(announced)]
    for spec in specs.values():
        lines += ["", f"## `{spec.name}`", "", *_described(spec), "", *_arguments(spec)]
    return "\n".join(lines)


def _groups(tool_runtime: LazyToolRuntime) -> dict[str, str]:
    return {spec.name: name for name, group in tool_runtime.groups.groups.items() for spec in group.toolset.specs()}


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
    if spec.name == LOAD:  # the groups stand above
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
    """A schema in few words."""
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
