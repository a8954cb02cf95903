"""`hob mcp`: add, accept, test and remove MCP servers."""

import asyncio
import json as jsons
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.home import make_home
from hob.app.settings.secret_stores import store_in_file
from hob.app.settings.sections import read_config, sections_of
from hob.cli.output import confirm, line, paint, print_json, print_table, printed_json
from hob.cli.setup.secrets import notify_daemon
from hob.cli.setup.tool_words import EFFECT_WORDS, ROLE_WORDS
from hob.cli.translating import _, ngettext
from hob.config.editing import set_values, unset_value
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.errors import HobError, InvalidRequest, NotConfigured, NotFound
from hob.core.lazy import Lazy
from hob.core.libraries import install_command
from hob.core.settings import suggests_secret
from hob.core.tools import ALL_EFFECTS, Effect
from hob.core.translation.language import translatable
from hob.tools.mcp.accepted import (
    FOLDER,
    LONGEST_DESCRIPTION,
    AcceptedServer,
    AcceptedTool,
    installed_package,
    load_accepted,
    save_accepted,
    tool_name,
)
from hob.tools.mcp.files import read_servers
from hob.tools.mcp.settings import McpServer, McpSettings

app = App(
    name="mcp", help="Add, list, test and accept MCP servers, which offer more tools.", result_action="return_value"
)

_NAME = re.compile(r"[a-z][a-z0-9-]{0,23}")
_REFERENCE = re.compile(r"(env|file|keyring|command):")

_WRITES = Effect.WRITES
Name = Annotated[str, Parameter(help="The server, by the name you give it.")]
Yes = Annotated[bool, Parameter(help="Do not ask.")]
Json = Annotated[bool, Parameter(help="Print JSON.")]
Raw = Mapping[str, Any]
"""A server's settings as written."""


@Lazy
def _looking() -> Any:
    from hob.cli.setup import mcp_probe

    return mcp_probe


def with_library(load: Lazy[Any]) -> Any:
    """Load modules that need the MCP library. Raises NotConfigured if it is not installed."""
    try:
        return load()
    except ImportError as error:
        command = install_command("'mcp>=2.3,<3'")
        raise NotConfigured(translatable("MCP needs a library: {command}", command=command)) from error


@app.command
def add(
    name: Name,
    /,
    *command: Annotated[str, Parameter(help="The program and its arguments, after `--`.", allow_leading_hyphen=True)],
    url: Annotated[str, Parameter(help="Its address, if it is not a program.")] = "",
    env: Annotated[list[str] | None, Parameter(help="NAME=VALUE; the value may be env:VARIABLE or file:PATH.")] = None,
    header: Annotated[
        list[str] | None, Parameter(help="A header: NAME=VALUE; the value may be env:VARIABLE or file:PATH.")
    ] = None,
    client_id: Annotated[str, Parameter(help="The OAuth client id, if you registered Hob there by hand.")] = "",
    client_secret: Annotated[str, Parameter(help="The secret of that client: env:VARIABLE or file:PATH.")] = "",
    host: Annotated[list[str] | None, Parameter(help="A host that the program may reach.")] = None,
    read: Annotated[list[str] | None, Parameter(help="A folder that it may read.")] = None,
    write: Annotated[list[str] | None, Parameter(help="A folder that it may change.")] = None,
    tool: Annotated[list[str] | None, Parameter(help="Offer only these of its tools: names or patterns.")] = None,
    yes: Yes = False,
) -> int:
    """Add a server: a program, which runs in the sandbox, or an address. You see its tools and accept them."""
    raw = {
        "command": [*command],
        "url": url,
        "env": dict(map(_pair, env or ())),
        "headers": dict(map(_pair, header or ())),
        "client_id": client_id,
        "client_secret": client_secret,
        "hosts": host or [],
        "read": read or [],
        "write": write or [],
        "tools": tool or [],
    }
    return _add(name, {key: value for key, value in raw.items() if value}, yes=yes)


@app.command(name="import")
def import_(
    file: Annotated[Path, Parameter(help=".mcp.json, or Claude Desktop's file.")],
    *,
    host: Annotated[list[str] | None, Parameter(help="A host that each of the programs may reach.")] = None,
    read: Annotated[list[str] | None, Parameter(help="A folder that each of them may read.")] = None,
    write: Annotated[list[str] | None, Parameter(help="A folder that each of them may change.")] = None,
    yes: Yes = False,
) -> int:
    """Add the servers from another program's file. You see and accept each of them."""
    status = 0
    allowed = {"hosts": host or [], "read": read or [], "write": write or []}
    for name, raw in read_servers(file).items():
        print(paint(name, "bold"))
        if name in read_config()[McpSettings]:
            print(_("{name} is there already", name=name))
            continue
        try:
            if not raw.keys() & {"command", "url"}:
                raise InvalidRequest(translatable("{file} names neither a program nor an address for it", file=file))
            given = allowed if "command" in raw else {}  # an address has no sandbox
            status = _add(name, {**raw, **{key: each for key, each in given.items() if each}}, yes=yes) or status
        except HobError as error:
            print(paint(line(_(str(error)), 400), "red"))
            status = 1
    return status


@app.default
@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List the servers: address or command, state, and how many tools you accepted. Contacts none of them."""
    config = read_config()
    views = [_view(config, name, server) for name, server in config[McpSettings].items()]
    if printed_json({"servers": views}, json):
        return
    print_table(
        (_("name"), _("state"), _("tools"), _("version"), _("program or address")),
        [
            (
                (view["name"], "bold"),
                _(view["state"]),
                str(view["tools"]),
                line(view["version"], 12),
                line(view["where"], 80),
            )
            for view in views
        ],
        _("No MCP servers yet; `hob mcp add NAME -- COMMAND` or `hob mcp add NAME --url URL` adds one."),
        right=(2,),
    )


@app.command
def accept(name: Name, *, yes: Yes = False) -> int:
    """Show what has changed in a server's tools since you accepted them, and accept it."""
    config = read_config()
    return _accept(config, name, _server(config, name), yes=yes)


@app.command(name="test")
def try_(name: Name, *, json: Json = False) -> int:
    """Contact a server and show what it offers. Calls and accepts nothing."""
    config = read_config()
    found = asyncio.run(with_library(_looking).look(config, name, _server(config, name)))
    accepted = load_accepted(config.home, name)
    changed = _changed(accepted, found)
    if json:
        tools = [each.name for each in found.tools]
        print_json({"name": name, "version": found.version, "protocol": found.protocol, "tools": tools, "new": changed})
        return 1 if changed else 0
    print(_("{server}, MCP {protocol}", server=_titled(found), protocol=found.protocol))
    for each in found.tools:
        print(f"  {tool_name(name, each.name)}{' *' if each.name in changed else ''}")
    if changed:
        print(_("* is new, or other than you accepted: `hob mcp accept {name}`", name=name))
    return 1 if changed else 0


@app.command
def remove(name: Name, *, yes: Yes = False) -> int:
    """Remove a server: its settings, what was installed for it, and its files."""
    config = read_config()
    _server(config, name)
    if not yes and not confirm(translatable("Remove {name}, with its files?", name=name)):
        return 1
    _forget(config, name)
    print(_("{name} is removed", name=name))
    return notify_daemon(config.home)


@app.command
def login(name: Name) -> int:
    """Log in to a server that requires it, in a browser here or on another machine."""
    config = read_config()
    server = _server(config, name)
    if not server.url:
        raise InvalidRequest(
            translatable("{name} is a program; only a server with an address can require a login", name=name)
        )
    (config.home / "oauth" / name).unlink(missing_ok=True)
    asyncio.run(with_library(_looking).look(config, name, server, _show))
    print(
        _(
            "Hob is logged in to {name}" if (config.home / "oauth" / name).exists() else "{name} requires no login",
            name=name,
        )
    )
    return notify_daemon(config.home)


async def _show(url: str, give: Callable[[str], None]) -> None:
    """Open a browser if there is one, and accept the final address pasted from another machine."""
    import webbrowser

    print(_("Log in here: {url}", url=url))
    await asyncio.to_thread(webbrowser.open, url)
    if sys.stdin.isatty():
        print(_("If the browser is on another machine, paste the address that it is sent to:"))
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin, lambda: _typed(give))


def _typed(give: Callable[[str], None]) -> None:
    asyncio.get_running_loop().remove_reader(sys.stdin)
    if text := sys.stdin.readline().strip():
        give(text)


def _add(name: str, raw: Raw, *, yes: bool) -> int:
    config = read_config()
    if _NAME.fullmatch(name) is None:
        raise InvalidRequest("a server's name has 1 to 24 small letters, digits and hyphens, a letter first")
    if name in config[McpSettings]:
        raise InvalidRequest(translatable("{name} is there already; `hob mcp remove {name}` takes it away", name=name))
    if bool(raw.get("command")) == bool(raw.get("url")):
        raise InvalidRequest("name a program after `--`, or an address with --url")
    looking = with_library(_looking)
    plan = looking.plan(raw.get("command", ()))
    if plan is not None:
        asked = translatable(
            "{package} is fetched from {registry} into Hob's home, once, without running its scripts. Install it?",
            package=plan.spelled if plan.version else translatable("the newest {package}", package=plan.spelled),
            registry=plan.source(process_environment()),
        )
        if not yes and not confirm(asked):
            return 1
    make_home(config.home)
    _write(config.home, name, raw)
    config = read_config()
    server = config[McpSettings][name]
    status = 1
    try:
        if plan is not None:
            server = asyncio.run(looking.fetch(config, name, plan, server))
            _write(config.home, name, {"command": server.command})
            print(_("installed: {package}", package=line(installed_package(config.home, name), 200)))
        status = _accept(config, name, server, yes=yes)
    except HobError:
        for each in _paths_outside_sandbox(server):
            print(
                paint(
                    _("{path} is not shown to the program; --read names a folder that it may read", path=line(each)),
                    "yellow",
                ),
                file=sys.stderr,
            )
        raise
    finally:
        if status:
            _forget(config, name)
    return status


def _paths_outside_sandbox(server: McpServer) -> Iterator[str]:
    """Yield paths in the command that lie outside the folders its program sees."""
    shown = [Path(each).expanduser().resolve() for each in ("/usr", "/opt", *server.read, *server.write)]
    for word in server.command[1:]:
        path = Path(word)
        if path.is_absolute() and path.exists() and not any(path.resolve().is_relative_to(each) for each in shown):
            yield word


def _accept(config: Config, name: str, server: McpServer, *, yes: bool) -> int:
    found = asyncio.run(with_library(_looking).look(config, name, server, _show))
    before = load_accepted(config.home, name)
    changed = _changed(before, found)
    known = {each.name: each for each in before.tools} if before is not None else {}
    print(_("{server}, MCP {protocol}", server=_titled(found), protocol=found.protocol))
    others = [*_other_changes(before, found)] if before is not None else []
    for told in others:
        print(told)
    for each in found.tools:
        if each.name in changed:
            for shown in _describe_tool(name, each, known.get(each.name)):
                print(shown)
    if before is not None and not changed and not others:
        print(_("nothing has changed since you accepted it"))
    elif not yes and not confirm(translatable("Accept these tools of {name}?", name=name)):
        return 1
    save_accepted(config.home, replace(found, name=name))
    count = len(found.tools)
    print(
        ngettext(
            "{name}: {count} tool is offered to the model in the group mcp_{name}",
            "{name}: {count} tools are offered to the model in the group mcp_{name}",
            count,
            name=name,
        )
    )
    return notify_daemon(config.home)


def _other_changes(before: AcceptedServer, now: AcceptedServer) -> Iterator[str]:
    """Yield differences from the acceptance other than new or changed tools."""
    if before.title != now.title:
        yield "  " + _("The server calls itself otherwise. Models read its name:")
        yield paint(f"    - {line(before.title, 400)}", "red")
        yield f"    + {line(now.title, 400)}"
    if now.resources and not before.resources:
        yield "  " + _("It now offers files and pages to read ({tool}).", tool=tool_name(now.name, "resources"))
    if now.prompts and not before.prompts:
        yield "  " + _("It now offers ready prompts ({tool}).", tool=tool_name(now.name, "prompts"))
    for gone in sorted({each.name for each in before.tools} - {each.name for each in now.tools}):
        yield paint(_("  {tool} is gone", tool=gone), "yellow")


def _titled(server: AcceptedServer) -> str:
    return f"{line(server.title)} {line(server.version)}".strip()


def _describe_tool(server: str, tool: AcceptedTool, before: AcceptedTool | None) -> Iterator[str]:
    """Yield a tool for the owner's judgement: description, effects, arguments."""
    yield paint(f"  {tool_name(server, tool.name)}", "bold")
    said = _one_line(tool.description)
    if before is not None and _one_line(before.description) != said:
        yield paint(f"    - {_one_line(before.description)}", "red")
        said = f"+ {said}"
    yield f"    {said}"
    told = _("what it may do: {effects}")
    if before is not None and before.effects != tool.effects:
        yield paint("    - " + told.format(effects=", ".join(_effect_words(before.effects))), "red")
    yield "    " + told.format(effects=", ".join(_effect_words(tool.effects)))
    roles = tool.roles or {}
    named = {argument: role for role, names in roles.items() if isinstance(names, tuple) for argument in names}
    words = {each: _role_word(named.get(each, "")) for each in tool.schema.get("properties", {})}
    arguments = ", ".join(f"{each} ({word})" if word else each for each, word in words.items())
    if arguments:
        yield "    " + _("what it is told: {arguments}", arguments=line(arguments, 400))
    yield from _argument_texts(tool.schema, None if before is None else before.schema)


def _role_word(role: str) -> str:
    return _(ROLE_WORDS.get(role, "")) if role else _("Hob does not know what for")


def _argument_texts(schema: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what models read about each argument; `before`: of an accepted tool, only the changes."""
    kinds = () if before is not None else ("type",)
    now, old = _argument_schemas(schema, kinds), _argument_schemas(before or {}, kinds)
    for name in dict.fromkeys((*old, *now)):
        if before is None and now[name]:
            yield f"      {line(name)}: {now[name]}"
        if before is None or old.get(name) == now.get(name):
            continue
        if name in old:
            yield paint(f"      - {line(name)}: {old[name]}", "red")
        if name in now:
            yield f"      + {line(name)}: {now[name]}"


def _argument_schemas(schema: Mapping[str, Any], without: Sequence[str]) -> Mapping[str, str]:
    """Return each argument's description and the rest of its schema, except for its title."""
    found: dict[str, str] = {}
    for name, given in schema.get("properties", {}).items():
        rest = {**given} if isinstance(given, Mapping) else {"schema": given}
        said = str(rest.pop("description", ""))
        rest = {key: each for key, each in rest.items() if key not in ("title", *without)}
        found[name] = _one_line(f"{said} {jsons.dumps(rest, ensure_ascii=False) if rest else ''}")
    return found


def _one_line(text: str) -> str:
    """Return a description as one line, in full."""
    return line(" ".join(text.split()), LONGEST_DESCRIPTION)


def _effect_words(effects: Sequence[str]) -> Iterator[str]:
    """Yield effects in words; `writes` is implied by effects that cannot be undone."""
    if set(effects) >= ALL_EFFECTS:
        yield _("anything; Hob cannot tell, so it asks you")
        return
    final = Effect.WRITES_FINALLY in effects
    yield from (_(word) for each, word in EFFECT_WORDS.items() if each in effects and not (final and each is _WRITES))


def _changed(before: AcceptedServer | None, now: AcceptedServer) -> Sequence[str]:
    known = {each.name: each for each in before.tools} if before is not None else {}
    return [each.name for each in now.tools if known.get(each.name) != each]


def _server(config: Config, name: str) -> McpServer:
    server = config[McpSettings].get(name)
    if server is None:
        raise NotFound(translatable("no server is called {name}; `hob mcp list` shows them", name=line(name)))
    return server


def _view(config: Config, name: str, server: McpServer) -> Mapping[str, Any]:
    accepted = load_accepted(config.home, name)
    state = "off" if not server.on else translatable("not accepted") if accepted is None else "on"
    tools = len(accepted.tools) if accepted is not None else 0
    version = accepted.version if accepted is not None else ""
    package = installed_package(config.home, name)
    where = server.url or package or " ".join(server.command)
    return {"name": name, "state": state, "tools": tools, "version": version, "where": where}


def _pair(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not mark or not key:
        raise InvalidRequest(translatable("{text} is not NAME=VALUE", text=line(text)))
    return key, value


def _write(home: Path, name: str, raw: Raw) -> None:
    """Write a server's settings; secrets go into a private file."""
    texts: dict[str, str | None] = {}
    for key, value in raw.items():
        if isinstance(value, Mapping):
            rows = (
                f"{_quoted(each)} = {_quoted(_stored_value(home, name, key, each, text))}"
                for each, text in value.items()
            )
            texts[f"mcp.{name}.{key}"] = f"{{{', '.join(rows)}}}"
        elif key == "client_secret":
            texts[f"mcp.{name}.{key}"] = _stored_value(home, name, key, key, value)
        else:
            texts[f"mcp.{name}.{key}"] = value if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"
    environ = process_environment()
    set_values(home / "config.toml", texts, sections=sections_of(home, environ), environ=environ)


def _stored_value(home: Path, server: str, kind: str, name: str, value: str) -> str:
    """Return the value to store: references and harmless values unchanged, secrets as references to a file."""
    if _REFERENCE.match(value) or (kind == "env" and not suggests_secret(name)):
        return value
    return store_in_file(home, f"mcp.{server}.{name}", value)


def _quoted(text: str) -> str:
    return jsons.dumps(text, ensure_ascii=False)


def _forget(config: Config, name: str) -> None:
    """Delete everything that belongs to a server."""
    environ = process_environment()
    unset_value(config.home / "config.toml", f"mcp.{name}", sections=sections_of(config.home, environ), environ=environ)
    folder = config.home / FOLDER
    (folder / f"{name}.json").unlink(missing_ok=True)
    for part in ("installing", "installed", "data", "sandbox"):
        shutil.rmtree(folder / part / name, ignore_errors=True)
    (config.home / "oauth" / name).unlink(missing_ok=True)
    for file in (config.home / "secrets").glob(f"mcp.{name}.*"):
        file.unlink()
