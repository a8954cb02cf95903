"""`hob token`: tokens of the API."""

import time
from typing import Annotated

from cyclopts import App, Parameter

from hob.app.home import make_home
from hob.app.settings.sections import read_config
from hob.cli.dates_and_figures import when
from hob.cli.output import class_word, line, paint, print_json, print_table, printed_json
from hob.cli.translating import _
from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.gateway.auth.callers import TokenScope
from hob.gateway.auth.tokens import OWNER, Token, TokenFile, ensure_token
from hob.gateway.settings import GatewaySettings

app = App(name="token", help="Make and revoke tokens for the API.", result_action="return_value")

_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

Name = Annotated[str, Parameter(help="The token's name: letters, digits and dashes.")]
Lasts = Annotated[str, Parameter(help="How long it is valid, e.g. 30d or 12h; without it, until it is revoked.")]
Json = Annotated[bool, Parameter(help="Print JSON.")]


@app.command
def new(
    name: Name,
    *,
    scope: Annotated[
        list[TokenScope] | None, Parameter(help="A scope of the token, repeatable; chat if not given.")
    ] = None,
    class_: Annotated[
        SenderClass,
        Parameter(help="The class of its holder; all but the owner can only chat."),
    ] = SenderClass.OWNER,
    expires: Lasts = "",
) -> None:
    """Make a token and print it once; only its hash is kept. A running daemon knows it at once."""
    lasts = _seconds(expires) if expires else None
    secret = _file().add(name, frozenset(scope or [TokenScope.CHAT]), class_, lasts)
    print(secret)


@app.default
@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List the tokens with their scopes; your own is not listed."""
    now = time.time()
    views = [each.view(now) for each in _file().tokens() if each.name != OWNER]
    if printed_json({"tokens": views}, json):
        return
    print_table(
        (_("token"), _("class"), _("scopes"), _("valid")),
        [
            (
                (line(view["name"], 32), "bold"),
                class_word(view["class"]),
                ", ".join(view["scopes"]),
                _until(view["expires"], view["holds"]),
            )
            for view in views
        ],
        _("No tokens yet; `hob token new NAME` makes one for a program, `hob token show` prints your own."),
    )


@app.command
def show(name: Annotated[str, Parameter(help="The token; your own if not given.")] = "", *, json: Json = False) -> None:
    """Print your own token, for `Authorization: Bearer`, or details of another token."""
    if not name or name == OWNER:
        config = read_config()
        make_home(config.home)
        token = ensure_token(config.home, config[GatewaySettings].auth_token)
        print_json({"token": token}) if json else print(token)
        return
    view = _find(name).view(time.time())
    if printed_json(view, json):
        return
    title, scopes = paint(line(view["name"], 32), "bold"), ", ".join(view["scopes"])
    print(_("{name}: {sender}, for {scopes}", name=title, sender=class_word(view["class"]), scopes=scopes))
    print(_("made {time}, valid {until}", time=when(view["created"]), until=_until(view["expires"], view["holds"])))
    if view["older"]:
        print(_("its former secret is still valid"))


@app.command
def rotate(
    name: Annotated[str, Parameter(help="The token; without it your own.")] = OWNER,
    *,
    overlap: Annotated[str, Parameter(help="How long the old one stays valid, e.g. 1h, or 0.")] = "24h",
    expires: Annotated[str, Parameter(help="How long the new one is valid; as before if not given.")] = "",
) -> None:
    """Replace a token's secret and print the new one. The old one stays valid for a while."""
    seconds, lasts = _seconds(overlap), _seconds(expires) if expires else None
    if name != OWNER:
        print(_file().rotate(name, seconds, lasts))
        return
    config = read_config()
    if config[GatewaySettings].auth_token is not None:
        raise InvalidRequest(translatable("your token is the setting gateway.auth_token: change it there"))
    if lasts is not None:
        raise InvalidRequest(translatable("your own token stays valid until it is rotated again"))
    print(_file().rotate_owners(seconds))


@app.command
def revoke(name: Name) -> None:
    """Revoke a token and its former secrets at once."""
    _file().revoke(name)
    print(_('token "{name}" revoked', name=name))


def _file() -> TokenFile:
    home = read_config().home
    make_home(home)
    return TokenFile(home, SystemClock())


def _find(name: str) -> Token:
    found = [each for each in _file().tokens() if each.name == name]
    if not found:
        raise NotFound(translatable("no token is called {name}; `hob token list` shows them", name=name))
    return found[0]


def _seconds(text: str) -> float:
    """Parse a duration such as 30d, 12h, 15m or 0 into seconds."""
    number, unit = (text[:-1], _UNITS.get(text[-1:])) if text != "0" else ("0", 1)
    if unit is None or not (number.isascii() and number.isdecimal() and len(number) <= 5):
        raise InvalidRequest(
            translatable("{text!r} is not a duration; write a number with m, h, d or w, e.g. 30d", text=text)
        )
    return float(number) * unit


def _until(expires: float | None, holds: bool) -> str:
    if expires is None:
        return _("until it is revoked")
    return (_("until {time}") if holds else _("no longer, since {time}")).format(time=when(expires))
