"""`hob config`: show, check and change settings. Exit status 2 for invalid settings and unknown keys."""

import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.command_check import command_problem, credential_problems
from hob.app.daemon.daemon_client import reach
from hob.app.daemon.preflight import embedder_problem, start_problem
from hob.app.home import holder_of
from hob.app.settings.run_time import holds_at_run_time
from hob.app.settings.sections import load_stored, read_config, sections_of
from hob.app.trust.audit import audit_action
from hob.cli.translating import _, ngettext
from hob.config.editing import set_value, unset_value
from hob.config.environment import find_home, process_environment
from hob.config.fields import find_setting, section_doc
from hob.config.loading import Config, load_config
from hob.config.positions import parse_key
from hob.config.problems import ConfigInvalid, ConfigLayer, Source, UnknownKey
from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.tools.sandbox.settings import SandboxSettings

HIDDEN = "••••"


_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def show_settings(config: Config, part: str = "", *, origin: bool = False, as_json: bool = False) -> int:
    """Print settings that begin with `part`, secrets hidden: with their meaning, or with the origin of each value."""
    if as_json and not part:
        print(json.dumps(_as_tree(config, origin=origin), indent=2, ensure_ascii=False))
        return 0
    chosen = [item for item in config.items() if f"{item[0]}.".startswith(f"{part}." if part else "")]
    if not chosen:
        told = translatable("{part}: no setting begins like this; `hob config show` prints them all", part=part)
        return _fail(NotConfigured(told))
    if as_json:
        print(json.dumps(_as_list(chosen, origin=origin), indent=2, ensure_ascii=False))
        return 0
    coloured = sys.stdout.isatty() and not process_environment().get("NO_COLOR")
    above = ""
    for key, value, source in chosen:
        section = key.partition(".")[0]
        if section != above:
            head = f"# [{section}] {_(section_doc(config.sections[section]))}".rstrip()
            print(("\n" if above else "") + (f"{_BOLD}{head}{_PLAIN}" if coloured else head))
            above = section
        setting = find_setting(config.sections, parse_key(key))
        line = f"{key} = {_('(not set)') if value == '' == getattr(setting, 'default', None) else as_text(value)}"
        note = _origin(source) if origin else _(setting.rules.doc) if setting else ""
        note = f"  # {note}" if note else ""
        if coloured:
            weight = _PLAIN if source.layer is ConfigLayer.DEFAULT else _BOLD
            line, note = f"{weight}{line}{_PLAIN}", f"{_DIM}{note}{_PLAIN}"
        print(line + note)
    return 0


def print_setting(config: Config, key: str, *, reveal: bool = False) -> int:
    """Print one value for scripts: text without quotes, nothing if not set, tables as TOML."""
    try:
        value = config.get(key)
        if isinstance(value, Secret):
            print(value.reveal() if reveal else HIDDEN)
        elif is_dataclass(value):
            for name, each in _plain(value).items():
                print(f"{name} = {as_text(each)}")
        elif value is not None:
            print(value if isinstance(value, (str, Path)) else as_text(value))
    except NotConfigured as error:
        return _fail(error)
    return 0


def set_setting(
    key: str, text: str, *, sections: Mapping[str, type], home: Path, environ: Mapping[str, str], running: bool = True
) -> int:
    """Set a key in the file; warn if another source overrides it, and say when a running Hob applies it."""
    path = home / "config.toml"
    try:
        set_value(path, key, text, sections=sections, environ=environ)
    except ConfigInvalid as error:
        return _fail(error)
    audit_action(home, "config.set", key)
    try:
        config = load_config(sections, home=home, environ=environ)
    except ConfigInvalid as error:
        print(
            _("{key} is set, but the settings are still wrong:\n{error}", key=key, error=_(str(error))), file=sys.stderr
        )
        return 0
    source = config.origin(key)
    if key.startswith(("gateway.", "admission.")) and (objection := start_problem(config)) is not None:
        print(
            _("{key} is set, but Hob does not start like this: {problem}", key=key, problem=_(str(objection))),
            file=sys.stderr,
        )
    if key == "model.embedding" and (problem := embedder_problem(config)) is not None:
        print(
            _(
                "{key} is set, but memory cannot be searched by meaning with it: {problem}",
                key=key,
                problem=_(str(problem)),
            ),
            file=sys.stderr,
        )
    if source.layer is not ConfigLayer.FILE:
        print(
            _("{key} is set in {path}, but {source} outranks it", key=key, path=path, source=_(str(source))),
            file=sys.stderr,
        )
    elif running and holder_of(home):
        print(_("{key} is set; {when}", key=key, when=_when(key)), file=sys.stderr)
    if key == "model.embedding" and source.layer is ConfigLayer.FILE and config.get(key):
        told = _(
            "From its next start on Hob prepares all memories for this model in the background; until then, words find."
            " `hob memory embedding` shows the progress."
        )
        print(told, file=sys.stderr)
    return 0


def unset_setting(
    key: str,
    *,
    sections: Mapping[str, type],
    home: Path,
    environ: Mapping[str, str],
    stored: Mapping[str, str] | None = None,
) -> int:
    """Remove a key from the file and print the value then in effect; a missing key is not an error."""
    path = home / "config.toml"
    try:
        if unset_value(path, key, sections=sections, environ=environ):
            audit_action(home, "config.unset", key)
        else:
            print(_("{key} is not in {path}", key=key, path=path), file=sys.stderr)
        config = load_config(sections, home=home, environ=environ, stored=stored or {})
    except ConfigInvalid as error:
        return _fail(error)
    _say_in_force(config, key)
    return 0


def _say_in_force(config: Config, key: str) -> None:
    with suppress(UnknownKey):  # an unknown key has no value
        value = config.get(key)
        shown, source = as_text(None if value == "" else value), _origin(config.origin(key))
        print(_("now in force: {key} = {value}  # {source}", key=key, value=shown, source=source), file=sys.stderr)


def _origin(source: Source) -> str:
    return _("set with --now") if source.layer is ConfigLayer.STORED else _(str(source))


def check_settings(*, sections: Mapping[str, type], home: Path, environ: Mapping[str, str]) -> int:
    """Read settings and secrets as the daemon would; print every problem and warning."""
    try:
        config = load_config(sections, home=home, environ=environ)
    except ConfigInvalid as error:
        print(_(str(error)), file=sys.stderr)
        count = len(error.problems)
        told = ngettext("{count} problem; Hob would not start", "{count} problems; Hob would not start", count)
        print(told, file=sys.stderr)
        return 2
    for warning in config.warnings:
        print(f"{_('warning')}: {_(str(warning))}", file=sys.stderr)
    for note in config.notes:
        print(f"{_('note')}: {_(str(note))}", file=sys.stderr)
    if SandboxSettings in sections.values():
        for problem in filter(None, (command_problem(config), *credential_problems(config))):
            print(f"{_('warning')}: {_(str(problem))}", file=sys.stderr)
    status = 0
    for _key, secret in config.secrets():
        try:
            secret.reveal()
        except NotConfigured as error:
            status = _fail(error)
    if status == 0 and (objection := start_problem(config)) is not None:
        status = _fail(objection)
    if status == 0:
        print(f"{config.path}: {_('ok') if config.path.exists() else _('there is no file; the defaults apply')}")
    return status


def as_text(value: Any) -> str:
    """Return a value as TOML, secrets hidden, with their references."""
    if value is None:
        return _("(not set)")
    if isinstance(value, Secret):
        return f"{HIDDEN} ({value.reference})" if value.reference else HIDDEN
    if is_dataclass(value):
        value = {name: each for name, each in _plain(value).items() if each is not None}
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {as_text(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(as_text(each) for each in value) + "]"
    if isinstance(value, (str, Path)):
        return json.dumps(str(value), ensure_ascii=False)
    return json.dumps(value)


def _plain(section: Any) -> dict[str, Any]:
    return {field.name: getattr(section, field.name) for field in fields(section)}


def _as_tree(config: Config, *, origin: bool) -> dict[str, Any]:
    if not origin:
        return {name: _as_json(config.section(name)) for name in config.sections}
    return _as_list(config.items(), origin=True)


def _as_list(items: Iterable[tuple[str, Any, Source]], *, origin: bool) -> dict[str, Any]:
    return {
        key: {"value": _as_json(value), "layer": source.layer.value, "place": str(source.place or "")}
        if origin
        else _as_json(value)
        for key, value, source in items
    }


def _as_json(value: Any) -> Any:
    if isinstance(value, Secret):
        return HIDDEN
    if is_dataclass(value):
        return {name: _as_json(each) for name, each in _plain(value).items()}
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_json(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _when(key: str) -> str:
    if holds_at_run_time(key):
        return _("`hob secrets reload` makes the running daemon use it")
    return _("the running daemon uses it from its next start on: `hob stop`, then `hob serve`")


def _fail(error: NotConfigured) -> int:
    print(f"hob: {_(str(error))}", file=sys.stderr)
    return 2


# Commands: the functions above on this process's home.

app = App(name="config", help="Show, check and change settings.", result_action="return_value")


@app.command
def show(part: str = "", /, *, origin: bool = False, json: bool = False) -> int:
    """Show every setting and what it means; secrets stay hidden.

    [] and {} are an empty list and table.

    Parameters
    ----------
    part
        Only keys that begin with this: gateway, or model.providers.
    origin
        Show where each value came from instead of what it means.
    json
        Print JSON.
    """
    return show_settings(read_config(stored=load_stored()), part, origin=origin, as_json=json)


@app.default
def show_all() -> int:
    """Show every setting; secrets stay hidden."""
    return show()


@app.command
def get(key: str, /, *, reveal: bool = False) -> int:
    """Print the value of KEY, e.g. agent.max_rounds.

    Parameters
    ----------
    key
        The setting, or a table of settings.
    reveal
        Print a secret in the open.
    """
    return print_setting(read_config(stored=load_stored()), key, reveal=reveal)


@app.command(name="set")
def set_(key: str, value: Annotated[str, Parameter(allow_leading_hyphen=True)], /, *, now: bool = False) -> int:
    """Set KEY to VALUE in the file. A VALUE of - is read from standard input, which keeps secrets out of the shell's
    history.

    Parameters
    ----------
    key
        The setting, e.g. agent.max_rounds; `hob config show` lists them.
    value
        Its value, as TOML or plain text.
    now
        Set it in the running Hob, at once and above the file; an empty VALUE undoes that.
    """
    text = _read_line() if value == "-" else value
    if now:
        reach("POST", "/settings", {"values": {key: text or None}})
        _say_in_force(read_config(stored=load_stored()), key)
        return 0
    done = set_setting(key, text, **_here())
    if not done:
        _say_outranked(key)
    return done


@app.command
def unset(key: str, /) -> int:
    """Remove KEY from the file, and print which value applies then.

    Parameters
    ----------
    key
        The setting, e.g. agent.max_rounds.
    """
    done = unset_setting(key, stored=load_stored(), **_here())
    if not done:
        _say_outranked(key)
    return done


@app.command
def check() -> int:
    """Check the file, the environment and that every secret can be read."""
    return check_settings(**_here())


@app.command
def path() -> None:
    """Print the path of the settings file, whether it exists or not."""
    print(find_home(process_environment()) / "config.toml")


def _say_outranked(key: str) -> None:
    """Warn if a value set at run time overrides the file."""
    here = _here()
    setting = find_setting(here["sections"], parse_key(key))
    if setting is None or not setting.rules.stored or not (here["home"] / "hob.db").exists():
        return
    rows = reach("GET", "/settings")["settings"]
    if any(row["key"] == key and row["layer"] == ConfigLayer.STORED for row in rows):
        print(
            _('The value set with --now outranks it; `hob config set --now {key} ""` takes that back.', key=key),
            file=sys.stderr,
        )


def _read_line() -> str:
    if sys.stdin.isatty():
        from getpass import getpass  # only an interactive run needs it

        with suppress(EOFError):
            return getpass(_("Value: "))
        return ""
    return sys.stdin.readline().rstrip("\r\n")


def _here() -> dict[str, Any]:
    environ = process_environment()
    home = find_home(environ)
    return {"sections": sections_of(home, environ), "home": home, "environ": environ}
