"""`hob secrets`: keep secrets outside the settings, change them while Hob runs, never show one."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call
from hob.app.home import make_home, socket_of
from hob.app.settings.secret_stores import list_secrets, store_in_file, store_in_keyring, unused_files
from hob.app.settings.sections import read_config, sections_of
from hob.app.trust.audit import audit_action
from hob.cli.dates_and_figures import when
from hob.cli.output import confirm, line, paint, print_json
from hob.cli.translating import _
from hob.config.editing import set_value, unset_value
from hob.config.environment import find_home, process_environment
from hob.config.loading import Config
from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable

app = App(
    name="secrets", help="Keep API keys and passwords out of the settings file.",
    result_action="return_value",
)  # fmt: skip

Key = Annotated[str, Parameter(help="The setting, e.g. model.api_key or model.providers.openai.api_key.")]
_OWN_TOKEN = "gateway.auth_token"  # noqa: S105 - a setting's name


@app.default
@app.command(name="list")
def list_(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """List where each secret is kept and whether it can be read; never the secret itself."""
    config = read_config()
    kept, unused = list(list_secrets(config)), unused_files(config)
    if json:
        rows = [
            {
                "key": each.key,
                "reference": each.reference or None,
                "problem": each.problem or None,
                "changed": each.changed,
            }
            for each in kept
        ]
        print_json({"secrets": rows, "unused": unused})
        return
    for each in kept:
        where = each.reference or paint(_("in plain text in the settings; `hob secrets set` moves it"), "yellow")
        state = paint(_(each.problem), "red") if each.problem else ""
        changed = f"  {_('changed {time}').format(time=when(each.changed))}" if each.changed is not None else ""
        print(f"{paint(line(each.key, 60), 'bold')}  {where}{changed}  {state}".rstrip())
    for name in unused:
        print(paint(_("no setting uses secrets/{name}", name=line(name, 60)), "dim"))
    if not kept and not unused:
        print(_("No secrets yet; `hob secrets set KEY` stores one."))


@app.command(name="set")
def set_(
    key: Key,
    *,
    keyring: Annotated[bool, Parameter(help="Keep it in the system's keyring instead of a private file.")] = False,
) -> int:
    """Store a secret and refer to it in the setting. Asks for it, or reads standard input."""
    home = find_home(process_environment())
    _known(key)
    value = _read(key)
    make_home(home)
    reference = store_in_keyring(key, value) if keyring else store_in_file(home, key, value)
    _point(home, key, reference)
    audit_action(home, "secrets.set", key)
    print(_("{key} is kept as {reference}", key=key, reference=reference))
    return notify_daemon(home)


@app.command
def rotate(key: Key) -> int:
    """Replace a secret where it is kept. A running daemon uses the new one at once."""
    home = find_home(process_environment())
    _known(key)
    reference = _reference(read_config(), key)
    scheme, _colon, place = reference.partition(":")
    if key == _OWN_TOKEN and scheme not in ("", "file", "keyring"):
        raise InvalidRequest(
            translatable("{key} is read from {reference}: change it there", key=key, reference=reference)
        )
    if scheme == "env":
        raise InvalidRequest(
            translatable(
                "{key} is read from the environment ({place}): change it there and start Hob again",
                key=key,
                place=place,
            )
        )
    if scheme == "command":
        print(_("{key} is what a program says ({place}); it is asked again.", key=key, place=place))
        return notify_daemon(home)
    value = _read(key)
    if scheme == "keyring":
        service, _slash, user = place.rpartition("/")
        store_in_keyring(user, value, service)
    elif scheme == "file" and Path(place).parent != home / "secrets":
        raise InvalidRequest(
            translatable(
                "{key} is kept in {place}, which is not Hob's: change it there, then `hob secrets reload`",
                key=key,
                place=place,
            )
        )
    else:
        _point(home, key, store_in_file(home, Path(place).name if place else key, value))
    audit_action(home, "secrets.rotate", key)
    print(_("{key} is rotated", key=key))
    return notify_daemon(home)


@app.command
def remove(key: Key, *, yes: Annotated[bool, Parameter(help="Do not ask.")] = False) -> int:
    """Remove a secret from the settings, and its file."""
    home = find_home(process_environment())
    reference = _reference(read_config(), key)
    file = Path(reference.removeprefix("file:"))
    ours = reference.startswith("file:") and file.parent == home / "secrets"
    if not yes and not confirm(
        translatable("Remove {key} and {file}?", key=key, file=file) if ours else translatable("Remove {key}?", key=key)
    ):
        return 1
    environ = process_environment()
    if not unset_value(home / "config.toml", key, sections=sections_of(home, environ), environ=environ):
        raise InvalidRequest(
            translatable(
                "{key} does not come from {home}; `hob config show --origin` says where from",
                key=key,
                home=home / "config.toml",
            )
        )
    if ours:
        file.unlink(missing_ok=True)
    audit_action(home, "secrets.remove", key)
    kept = reference and not ours
    told = "{key} is removed; what {reference} refers to is kept" if kept else "{key} is removed"
    print(_(told, key=key, reference=reference))
    return notify_daemon(home)


@app.command
def reload() -> int:
    """Make a running daemon read settings and secrets again, as SIGHUP does."""
    return notify_daemon(find_home(process_environment()), must=True)


def _known(key: str) -> None:
    """Validate a key that may hold a secret. Raises UnknownKey, InvalidRequest."""
    from hob.config.fields import holds_secret  # loads all sections, which only these commands need
    from hob.config.layers import find_key

    _, setting = find_key(read_config().sections, key)
    if not holds_secret(setting.kind):
        raise InvalidRequest(translatable("{key} is not a secret; `hob config set {key} VALUE` sets it", key=key))


def _reference(config: Config, key: str) -> str:
    found = dict(config.secrets()).get(key)
    if found is None:
        raise NotFound(translatable("{key} is not a secret that is set; `hob secrets list` shows which are", key=key))
    return found.reference


def _point(home: Path, key: str, reference: str) -> None:
    environ = process_environment()
    set_value(home / "config.toml", key, reference, sections=sections_of(home, environ), environ=environ)


def _read(key: str) -> str:
    """Read the value from the terminal or standard input, on one line. Raises InvalidRequest."""
    if sys.stdin.isatty():
        from getpass import getpass  # only an interactive run needs it

        value = getpass(f"{key}: ")
    else:
        value = sys.stdin.read()
    value = value.strip()
    if not value or "\n" in value or not value.isprintable():
        raise InvalidRequest("a secret is one line of printable letters; nothing was changed")
    return value


def notify_daemon(home: Path, *, must: bool = False, quiet: bool = False) -> int:
    """Make a running Hob read settings and secrets again; return an exit status. `quiet` prints problems only."""
    try:
        answer = call(socket_of(home), "POST", "/reload", timeout=30)
    except (NotRunning, ConnectionLost):
        if must:
            print(_("Hob is not running; it reads them when it starts."), file=sys.stderr)
        return 0
    if problem := answer.body.get("problem"):
        print(
            _("hob: invalid settings; the running daemon keeps its former ones: {problem}", problem=problem),
            file=sys.stderr,
        )
        return 2
    if quiet:
        return 0
    print(_("The running daemon has read settings and secrets again."))
    for waiting in answer.body.get("waiting", ()):
        print(paint(_("{key} applies from the next start on", key=waiting), "yellow"))
    return 0
