"""`hob tools`: list, explain and try tools."""

import json as jsons
from collections.abc import Mapping
from itertools import groupby
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.output import confirm, line, paint, print_json, printable, printed_json, width_of_screen
from hob.cli.setup.tool_words import EFFECT_WORDS, ROLE_WORDS, TOOL_WORDS
from hob.cli.translating import _
from hob.core.tools import Restart
from hob.core.translation.language import translatable
from hob.guard.policy.explanation import RISK_WORDS

app = App(name="tools", help="List, explain and try tools.", result_action="return_value")

_RESTART_WORDS: Mapping[str, str] = {
    Restart.AGAIN: translatable("repeated"),
    Restart.NEVER: translatable("not repeated"),
    Restart.RESUME: translatable("it continues what it began"),
}
Name = Annotated[str, Parameter(help="The tool's name, e.g. web_search.")]
Json = Annotated[bool, Parameter(negative="", help="Print JSON.")]


@app.default
@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List every tool by group: those always shown to the model, then those that it opens when needed."""
    seen = reach("GET", "/tools")
    if printed_json(seen, json):
        return
    for group, tools in groupby(seen["tools"], lambda tool: tool["group"]):
        print(paint(group or _("always shown"), "bold"))
        for tool in tools:
            about = TOOL_WORDS.get(tool["name"]) or tool["about"].split("\n", 1)[0]
            print(f"  {tool['name']:22} {line(_(about), max(40, width_of_screen() - 25))}")
    print(paint(_("`hob tools explain NAME` shows what a tool takes, may do and costs."), "dim"))


@app.command
def explain(name: Name, /, *, json: Json = False) -> None:
    """Explain a tool: its arguments, its effects, and how the guard reads them."""
    seen = reach("GET", f"/tools/{name}")
    if printed_json(seen, json):
        return
    about = printable(_(seen["about"]))
    told = _(TOOL_WORDS.get(seen["name"], ""))
    print(f"{paint(seen['name'], 'bold')}  {told or about}")
    if told:
        print(f"  {paint(_('the model is told:'), 'dim')} {about}")
    for label, value in _facts(seen):
        print(f"  {paint(f'{label:13}', 'dim')} {line(value, 300)}")
    required = seen["schema"].get("required", ())
    for argument, shape in seen["schema"].get("properties", {}).items():
        mark = "" if argument in required else _(" (optional)")
        role = _role_of(argument, seen["roles"])
        print(f"    {argument}{mark}{f' [{role}]' if role else ''}  {line(_shape(shape), 240)}")


@app.command(name="test")
def try_(
    name: Name,
    arguments: Annotated[
        str, Parameter(help='The arguments as JSON ({"path": "notes.md"}), or the main one as plain text.')
    ] = "",
    /,
    *,
    yes: Annotated[bool, Parameter(negative="", help="Do it without asking where the policy asks you first.")] = False,
    json: Json = False,
) -> int:
    """Call a tool once, judged by the policy as if you had asked for it, and print the result."""
    route = f"/tools/{name}/test"
    seen = reach("POST", route, {"arguments": arguments, "confirmed": yes}, timeout=None)
    if not seen["done"] and seen["verdict"] == "ask" and not json:
        for told in seen["told"]:
            print(printable(told))
        if confirm(_("Do it?")):
            seen = reach("POST", route, {"arguments": arguments, "confirmed": True}, timeout=None)
    if json:
        print_json(seen)
    elif seen["done"]:
        print(printable(seen["text"]))
        print(paint(_("{seconds} s", seconds=seen["seconds"]), "dim"))
    elif seen["verdict"] == "deny":
        for told in seen["told"]:
            print(printable(told))
    return 0 if seen["done"] and not seen["failed"] else 1


def _facts(seen: Mapping[str, Any]) -> list[tuple[str, str]]:
    effects = "; ".join(_(EFFECT_WORDS.get(each, each)) for each in seen["effects"]) or _("do nothing outside Hob")
    seconds, characters = seen["timeout"], seen["output_cap"]
    limits = _("{seconds:g} seconds; {characters:,} characters of result", seconds=seconds, characters=characters)
    return [
        (_("group"), seen["group"] or _("always shown")),
        (_("it may"), effects),
        (_("risk"), _(RISK_WORDS[seen["tier"]])),
        (_("limits"), limits),
        (_("after a crash"), _(_RESTART_WORDS[seen["restart"]])),
        (_("size"), _("{bytes} bytes in each request to the model", bytes=seen["bytes"])),
    ]  # fmt: skip


def _role_of(argument: str, roles: Mapping[str, Any]) -> str:
    role = next((role for role, names in roles.items() if isinstance(names, list) and argument in names), "")
    return _(ROLE_WORDS[role]) if role in ROLE_WORDS else ""


def _shape(shape: Mapping[str, Any]) -> str:
    kinds = shape.get("enum", shape.get("type", jsons.dumps(shape)))
    kind = kinds if isinstance(kinds, str) else "|".join(map(str, kinds))
    return f"{kind}  {shape['description']}" if "description" in shape else kind
