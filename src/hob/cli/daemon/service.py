"""`hob service`: run Hob as a user service that starts with the machine and after failures."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from hob.app.home import holder_of, make_home
from hob.app.service.detection import find_service_manager
from hob.app.service.plan import ENVIRONMENT_FILE, ServicePlan, make_plan
from hob.app.service.service_manager import ServiceManager, ServiceState, read_text
from hob.app.service.steps import Run, ServiceFailed, Step, WriteFile, describe, perform
from hob.app.service.variables import HEAD, names_in, service_variables, set_values
from hob.app.settings.sections import read_config
from hob.bus.settings import BusSettings
from hob.cli.output import paint, print_json
from hob.cli.translating import _, ngettext
from hob.config.environment import find_home, process_environment
from hob.config.loading import Config
from hob.core.errors import NotFound
from hob.core.translation.language import translatable

app = App(
    name="service",
    help="Run Hob as a service: starts with the machine and after failures.",
    result_action="return_value",
)


@app.command
def install(
    *,
    with_keys: Annotated[bool, Parameter(help="Copy this terminal's keys into its file.", negative="")] = False,
    dry_run: Annotated[bool, Parameter(help="Only show what would be done.", negative="")] = False,
) -> int:
    """Install the service and start it, now and with the machine. Running this again only fixes differences."""
    config, environ = read_config(), process_environment()
    service_manager = find_service_manager(environ, config.home)
    plan = make_plan(config.home, environ, config[BusSettings].drain_seconds)
    for_other = service_manager.home()
    if for_other and Path(for_other) != config.home:
        raise ServiceFailed(
            translatable(
                "there is a service already, for the home {home}; `HOB_HOME={home} hob service uninstall` removes it",
                home=for_other,
            )
        )
    variables = _write_variables(plan, config, environ, with_keys=with_keys)
    if dry_run:
        for step in (*variables, *service_manager.install(plan)):
            print(_("would {step}", step=describe(step)))
        if obstacle := service_manager.obstacle():
            _note(_(obstacle))
        _tell_of_keys(plan, config, environ, variables)
        return 0
    if obstacle := service_manager.obstacle():
        raise ServiceFailed(obstacle)
    was = service_manager.state()
    if not was.running and (holder := holder_of(config.home)) and holder.startswith("hob serve"):
        raise ServiceFailed(
            translatable(
                "{home} is in use by {holder}; stop that one first with `hob stop`, the service takes its place",
                home=config.home,
                holder=holder,
            )
        )
    make_home(config.home)
    former = read_text(service_manager.file)
    _perform((*variables, *service_manager.install(plan)), service_manager, environ)
    _tell_of_keys(plan, config, environ, variables)
    changed = former != read_text(service_manager.file) or bool(variables and with_keys)
    if was.running and changed:
        _note(_("the running daemon keeps its former settings; `hob service restart` renews it"))
    return _tell(service_manager, config.home)


def _write_variables(
    plan: ServicePlan, config: Config, environ: Mapping[str, str], *, with_keys: bool
) -> Sequence[Step]:
    """Write the environment file if it is missing, and copy the keys into it if requested."""
    file = plan.environment_file
    there = read_text(file)
    if not with_keys:
        return () if file.exists() else (WriteFile(file, HEAD, 0o600),)
    values = service_variables(environ, _secret_variables(config))
    try:
        text = set_values(there or HEAD, values)
    except ValueError as error:
        raise ServiceFailed(
            translatable(
                "{name} holds a quote, a backslash or a control character: write it into {file} yourself",
                name=str(error),
                file=file,
            )
        ) from None
    hidden = set_values(there and f"{_('(what is there stays)')}\n", dict.fromkeys(values, "…"))
    return (WriteFile(file, text, 0o600, shown=hidden),)


def _secret_variables(config: Config) -> list[str]:
    """Return the variables that the settings read secrets from."""
    references = (secret.reference for _, secret in config.secrets())
    return [reference.removeprefix("env:") for reference in references if reference.startswith("env:")]


def _tell_of_keys(plan: ServicePlan, config: Config, environ: Mapping[str, str], variables: Sequence[Step]) -> None:
    there = names_in(read_text(plan.environment_file))
    given = names_in("".join(step.text for step in variables if isinstance(step, WriteFile)))
    if missing := [name for name in service_variables(environ, _secret_variables(config)) if name not in there | given]:
        _note(
            _(
                "set in this terminal and not for the service: {names}; "
                "`hob service install --with-keys` writes them into {file}",
                names=", ".join(missing),
                file=plan.environment_file,
            )
        )


def _note(text: str) -> None:
    """Print a remark about what was done."""
    print(f"{paint(_('note').ljust(8), 'yellow')}{text}")


def _perform(steps: Sequence[Step], service_manager: ServiceManager, environ: Mapping[str, str]) -> None:
    for step in steps:
        try:
            told = perform(step, environ)
        except ServiceFailed as failed:
            state = service_manager.state()
            if not state.installed or state.running:
                raise
            told = translatable(
                "{problem}\nIt is {state}; `hob service logs` says why", problem=str(failed), state=state.detail
            )
            raise ServiceFailed(told) from failed
        if told and isinstance(step, Run):
            _note(_(told))
        elif told:
            print(paint(_(told), "green"))


@app.command
def uninstall(
    *, dry_run: Annotated[bool, Parameter(help="Only show what would be done.", negative="")] = False
) -> None:
    """Stop and remove the service; the home is kept."""
    environ = process_environment()
    home = find_home(environ)
    service_manager = find_service_manager(environ, home)
    steps = service_manager.uninstall()
    if not steps:
        print(_("There is no service: {file} is not there.", file=service_manager.file))
        return
    if service_manager.home() and Path(service_manager.home()) != home:
        raise ServiceFailed(
            translatable(
                "this service is for the home {home}; `HOB_HOME={home} hob service uninstall` removes it",
                home=service_manager.home(),
            )
        )
    if dry_run:
        for step in steps:
            print(_("would {step}", step=describe(step)))
        return
    if obstacle := service_manager.obstacle():
        raise ServiceFailed(obstacle)
    _perform(steps, service_manager, environ)
    if (file := home / ENVIRONMENT_FILE).exists():
        print(_("kept    {file}: its variables; remove it if you do not need them", file=file))


@app.command
def status(*, json: bool = False) -> int:
    """Show whether the service runs, since when, and whether its files are current. Exit status 1 if it does not run.

    Parameters
    ----------
    json:
        Print JSON.
    """
    environ = process_environment()
    home = find_home(environ)
    service_manager = find_service_manager(environ, home)
    if not json:
        return _tell(service_manager, home)
    state = service_manager.state()
    print_json(
        {
            "manager": service_manager.name,
            "file": str(service_manager.file),
            "home": service_manager.home(),
            "program": service_manager.program(),
            "installed": state.installed,
            "enabled": state.enabled,
            "running": state.running,
            "detail": state.detail,
            "pid": state.pid,
            "restarts": state.restarts,
            "since": state.since,
            "lingers": state.lingers,
        }
    )
    return 0 if state.running else 1


def _tell(service_manager: ServiceManager, home: Path) -> int:
    state = service_manager.state()
    if not state.installed:
        missing = paint(_("not installed"), "yellow")
        print(f"{_('service'):10}{_('{state}; `hob service install` installs it').format(state=missing)}")
        return 1
    since = _(", since {time}", time=state.since) if state.since and state.running else ""
    again = ngettext(", restarted once", ", restarted {count} times", state.restarts) if state.restarts else ""
    print(f"{_('service'):10}{paint(_(state.detail), 'green' if state.running else 'red')}{since}{again}")
    print(f"{'':10}{service_manager.file}")
    for text, colour in _find_problems(service_manager, state, home):
        print(f"{'':10}{paint(text, colour)}")
    return 0 if state.running else 1


def _find_problems(service_manager: ServiceManager, state: ServiceState, home: Path) -> Iterator[tuple[str, str]]:
    """Yield the problems of the service, each with a colour."""
    if service_manager.home() != str(home):
        yield _("it is for the home {other}, not for {home}", other=service_manager.home() or "?", home=home), "yellow"
    if not Path(service_manager.program() or "/").is_file():
        yield _("{program} is gone; `hob service install` repairs it", program=service_manager.program()), "red"
    if not state.enabled:
        yield _("not started with the machine; `hob service install` repairs it"), "yellow"
    if state.lingers is False:
        yield _("ends when you log out; `sudo loginctl enable-linger $USER` changes that"), "yellow"
    if not state.running:
        yield _("`hob service logs` says why, `hob service restart` tries again"), ""


@app.command
def restart() -> int:
    """Restart the service once running turns have ended. Nothing is restarted if the settings are wrong."""
    environ = process_environment()
    home = read_config().home
    service_manager = find_service_manager(environ, home)
    _need_installed(service_manager)
    _perform(service_manager.restart(), service_manager, environ)
    return _tell(service_manager, home)


@app.command
def logs(*, limit: int = 50, follow: bool = False) -> int:
    """Show the service manager's log, with starts, ends and crashes.

    Parameters
    ----------
    limit:
        Begin with at most this many lines.
    follow:
        Keep showing new lines, until Ctrl-C.
    """
    environ = process_environment()
    service_manager = find_service_manager(environ, find_home(environ))
    _need_installed(service_manager)
    argv = service_manager.logs(max(1, limit), follow=follow)
    program = shutil.which(argv[0], path=environ.get("PATH", os.defpath))
    if program is None:
        raise ServiceFailed(translatable("{program} is not installed here", program=argv[0]))
    sys.stdout.flush()
    os.execve(program, list(argv), dict(environ))  # noqa: S606 - runs the program that shows the log, without a shell


def _need_installed(service_manager: ServiceManager) -> None:
    if not service_manager.file.exists():
        raise NotFound("there is no service; `hob service install` makes one")
