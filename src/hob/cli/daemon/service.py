"""`hob service`: Hob as a service of yours, that starts with the machine and again when it fails."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from hob.app.home import holder_of, make_home
from hob.app.service.detection import find_keeper
from hob.app.service.plan import ENVIRONMENT_FILE, ServicePlan, make_plan
from hob.app.service.service_manager import ServiceManager, read_text
from hob.app.service.steps import ServiceFailed, Step, WriteFile, perform, show
from hob.app.service.variables import HEAD, names_in, wanted, with_values
from hob.app.settings_sections import read_config
from hob.bus.settings import BusSettings
from hob.cli.output import paint, print_json
from hob.config.environment import find_home, process_environment
from hob.config.loading import Config
from hob.core.errors import NotFound

app = App(
    name="service",
    help="Hob as a service: started with the machine and after failures.",
    result_action="return_value",
)


@app.command
def install(
    *,
    with_keys: Annotated[bool, Parameter(help="Write the keys of this terminal into its file.", negative="")] = False,
    dry_run: Annotated[bool, Parameter(help="Only show what would be done.", negative="")] = False,
) -> int:
    """Write the service, start it, and have it started with the machine; again it only puts right what differs."""
    config, environ = read_config(), process_environment()
    service_manager = find_keeper(environ, config.home)
    plan = make_plan(config.home, environ, config[BusSettings].drain_seconds)
    for_other = service_manager.home()
    if for_other and Path(for_other) != config.home:
        raise ServiceFailed(
            f"there is a service already, for the home {for_other}; `HOB_HOME={for_other} hob service uninstall` first"
        )
    variables = _variables(plan, config, environ, with_keys=with_keys)
    if dry_run:
        for step in (*variables, *service_manager.install(plan)):
            print(f"would {show(step)}")
        if obstacle := service_manager.obstacle():
            print(f"{paint('note', 'yellow')}    {obstacle}")
        _tell_of_keys(plan, config, environ, variables)
        return 0
    if obstacle := service_manager.obstacle():
        raise ServiceFailed(obstacle)
    was = service_manager.state()
    if not was.running and (holder := holder_of(config.home)) and holder.startswith("hob serve"):
        raise ServiceFailed(
            f"{config.home} is in use by {holder}; stop that one first with `hob stop`, the service takes its place"
        )
    make_home(config.home)
    former = read_text(service_manager.file)
    _perform((*variables, *service_manager.install(plan)), service_manager, environ)
    _tell_of_keys(plan, config, environ, variables)
    changed = former != read_text(service_manager.file) or bool(variables and with_keys)
    if was.running and changed:
        print(f"{paint('note', 'yellow')}    the running one goes on as it began; `hob service restart` renews it")
    return _tell(service_manager, config.home)


def _variables(plan: ServicePlan, config: Config, environ: Mapping[str, str], *, with_keys: bool) -> Sequence[Step]:
    """The file of variables: made where there is none, given the keys where that is asked for."""
    file = plan.environment_file
    there = read_text(file)
    if not with_keys:
        return () if file.exists() else (WriteFile(file, HEAD, 0o600),)
    values = wanted(environ, _referenced(config))
    try:
        text = with_values(there or HEAD, values)
    except ValueError as error:
        raise ServiceFailed(
            f"{error} holds a quote, a backslash or a control character: write it into {file} yourself"
        ) from None
    hidden = with_values(there and "(what is there stays)\n", dict.fromkeys(values, "…"))
    return (WriteFile(file, text, 0o600, shown=hidden),)


def _referenced(config: Config) -> list[str]:
    """The variables that the settings read their secrets from."""
    references = (secret.reference for _, secret in config.secrets())
    return [reference.removeprefix("env:") for reference in references if reference.startswith("env:")]


def _tell_of_keys(plan: ServicePlan, config: Config, environ: Mapping[str, str], variables: Sequence[Step]) -> None:
    there = names_in(read_text(plan.environment_file))
    given = names_in("".join(step.text for step in variables if isinstance(step, WriteFile)))
    if missing := [name for name in wanted(environ, _referenced(config)) if name not in there | given]:
        print(
            f"{paint('note', 'yellow')}    set in this terminal and not for the service: {', '.join(missing)};"
            f" `hob service install --with-keys` writes them into {plan.environment_file}"
        )


def _perform(steps: Sequence[Step], service_manager: ServiceManager, environ: Mapping[str, str]) -> None:
    for step in steps:
        try:
            told = perform(step, environ)
        except ServiceFailed as failed:
            state = service_manager.state()
            if not state.installed or state.running:
                raise
            raise ServiceFailed(f"{failed}\nIt is {state.detail}; why, says `hob service logs`") from failed
        if told:
            head, _, rest = told.partition(" ")
            print(paint(head, "yellow" if head == "note" else "green"), rest)


@app.command
def uninstall(
    *, dry_run: Annotated[bool, Parameter(help="Only show what would be done.", negative="")] = False
) -> None:
    """Stop the service and remove it; the home, with everything in it, stays."""
    environ = process_environment()
    home = find_home(environ)
    service_manager = find_keeper(environ, home)
    steps = service_manager.uninstall()
    if not steps:
        print(f"There is no service: {service_manager.file} is not there.")
        return
    if service_manager.home() and Path(service_manager.home()) != home:
        raise ServiceFailed(
            f"this service is for the home {service_manager.home()}; "
            f"`HOB_HOME={service_manager.home()} hob service uninstall` means it"
        )
    if dry_run:
        for step in steps:
            print(f"would {show(step)}")
        return
    if obstacle := service_manager.obstacle():
        raise ServiceFailed(obstacle)
    _perform(steps, service_manager, environ)
    if (file := home / ENVIRONMENT_FILE).exists():
        print(f"kept    {file}: its variables; remove it if you do not need them")


@app.command
def status(*, json: bool = False) -> int:
    """Whether it runs, since when, and whether it is as this Hob would install it. Exit status 1 if it does not run.

    Parameters
    ----------
    json:
        Print JSON.
    """
    environ = process_environment()
    home = find_home(environ)
    service_manager = find_keeper(environ, home)
    if not json:
        return _tell(service_manager, home)
    state = service_manager.state()
    print_json(
        {
            "manager": service_manager.name,
            "file": str(service_manager.file),
            "home": service_manager.home(),
            "program": service_manager.program(),
        }
        | asdict(state)
    )
    return 0 if state.running else 1


def _tell(service_manager: ServiceManager, home: Path) -> int:
    state = service_manager.state()
    if not state.installed:
        print(f"service   {paint('not installed', 'yellow')}; `hob service install` installs it")
        return 1
    since = f", since {state.since}" if state.since and state.running else ""
    times = "once" if state.restarts == 1 else f"{state.restarts} times"
    again = f", started again {times}" if state.restarts else ""
    print(f"service   {paint(state.detail, 'green' if state.running else 'red')}{since}{again}")
    print(f"          {service_manager.file}")
    if service_manager.home() != str(home):
        print(f"          {paint(f'it is for the home {service_manager.home() or chr(63)}, not for {home}', 'yellow')}")
    if not Path(service_manager.program() or "/").is_file():
        print(f"          {paint(f'{service_manager.program()} is gone; `hob service install` puts it right', 'red')}")
    if not state.enabled:
        print(f"          {paint('not started with the machine; `hob service install` puts it right', 'yellow')}")
    if state.lingers is False:
        print(f"          {paint('ends when you log out; `sudo loginctl enable-linger $USER` changes that', 'yellow')}")
    if not state.running:
        print("          `hob service logs` says why, `hob service restart` tries again")
    return 0 if state.running else 1


@app.command
def restart() -> int:
    """Stop it gently, so that running turns may end, and start it; with wrong settings it is left as it is."""
    environ = process_environment()
    home = read_config().home
    service_manager = find_keeper(environ, home)
    _need_installed(service_manager)
    _perform(service_manager.restart(), service_manager, environ)
    return _tell(service_manager, home)


@app.command
def logs(*, limit: int = 50, follow: bool = False) -> int:
    """What the service manager has heard from it: starts, ends and crashes too, which Hob cannot tell of itself.

    Parameters
    ----------
    limit:
        The most lines to begin with.
    follow:
        Go on with new ones, until Ctrl-C.
    """
    environ = process_environment()
    service_manager = find_keeper(environ, find_home(environ))
    _need_installed(service_manager)
    argv = service_manager.logs(max(1, limit), follow=follow)
    program = shutil.which(argv[0], path=environ.get("PATH", os.defpath))
    if program is None:
        raise ServiceFailed(f"{argv[0]} is not installed here")
    sys.stdout.flush()
    os.execve(program, list(argv), dict(environ))  # noqa: S606 - it is the program that shows them, with no shell


def _need_installed(service_manager: ServiceManager) -> None:
    if not service_manager.file.exists():
        raise NotFound("there is no service; `hob service install` makes one")
