"""`hob auth`: list, add and remove OAuth logins of MCP servers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.settings.sections import read_config
from hob.cli.dates_and_figures import when
from hob.cli.output import line, print_table, printed_json
from hob.cli.setup.mcp import login as log_in
from hob.cli.setup.mcp import with_library
from hob.cli.setup.secrets import notify_daemon
from hob.cli.translating import _
from hob.core.errors import NotFound
from hob.core.lazy import Lazy
from hob.core.translation.language import translatable

app = App(name="auth", help="List, add and remove logins of MCP servers.", result_action="return_value")

Name = Annotated[str, Parameter(help="The server that requires the login.")]


@Lazy
def _oauth() -> Any:
    from hob.tools.mcp import oauth

    return oauth


@app.default
@app.command(name="list")
def list_(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """List every login: server, scope and expiry. Shows no tokens."""
    home, oauth = read_config().home, with_library(_oauth)
    views = [_view(name, oauth.OAuthTokenFile(home, name).read()) for name in _names(home / oauth.FOLDER)]
    if printed_json({"logins": views}, json):
        return
    print_table(
        (_("name"), _("server"), _("scopes"), _("valid until")),
        [
            (
                view["name"],
                line(view["url"], 60),
                line(view["scope"], 60),
                when(view["until"]) if view["until"] else "-",
            )
            for view in views
        ],
        _("No logins yet; `hob auth login NAME` adds one."),
    )


@app.command
def login(name: Name) -> int:
    """Log in to a server that requires it, in a browser here or on another machine."""
    return log_in(name)


@app.command
def logout(name: Name) -> int:
    """Remove a login."""
    home = read_config().home
    oauth = with_library(_oauth)
    if name not in _names(home / oauth.FOLDER) or not oauth.OAuthTokenFile(home, name).forget():
        raise NotFound(
            translatable("Hob is not logged in to {name}; `hob auth list` shows where it is", name=line(name))
        )
    print(_("Hob is logged out of {name}", name=name))
    return notify_daemon(home)


def _names(folder: Path) -> Sequence[str]:
    return sorted(each.name for each in folder.iterdir() if "." not in each.name) if folder.is_dir() else []


def _view(name: str, kept: Mapping[str, Any]) -> Mapping[str, Any]:
    scope = (kept.get("tokens") or {}).get("scope") or ""
    return {"name": name, "url": kept.get("url", ""), "scope": scope, "until": kept.get("until")}
