"""`hob upgrade`: how to, for this very Hob."""

import shlex
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from hob import __version__
from hob.app.diagnostics.context import DiagnosticContext, NotLooked
from hob.app.service.steps import ask
from hob.cli.output import paint, print_json
from hob.cli.setup.installation import Installation, changes_since, load_changelog, this_installation
from hob.config.environment import find_home, process_environment
from hob.store.database.disk import stamp

_SHOWN = 12


def upgrade(
    *,
    all: Annotated[bool, Parameter(help="Show every change.", negative="")] = False,  # noqa: A002 - the option's name
    json: Annotated[bool, Parameter(help="Print JSON.", negative="")] = False,
) -> None:
    """How this Hob is upgraded, and what changed since the one that ran here before. Does nothing and asks nobody."""
    environ = process_environment()
    diagnostics = DiagnosticContext(find_home(environ), environ)
    installation = this_installation(__version__)
    if installation.checkout:
        said = ask(environ, "git", "-C", str(installation.checkout), "rev-parse", "--short", "HEAD")
        installation = replace(installation, back=installation.back.replace("REVISION", said.out.strip() or "REVISION"))
    backup = diagnostics.home / "backups" / f"mine-{stamp(diagnostics.clock.now())}.db"
    before = _ran_before(diagnostics)
    steps = _steps(diagnostics, installation, str(backup), kept=bool(before))
    changes = changes_since(load_changelog(installation), before)
    if json:
        print_json(
            {"version": __version__, "before": before, "kind": installation.kind, "steps": steps}
            | {"back": installation.back, "changes": changes}
        )
        return
    print(f"Hob {__version__} is {installation.kind}. There is no update check: you decide when. To upgrade:\n")
    for number, step in enumerate(steps, 1):
        print(f"  {number}. {paint(step, 'bold')}")
    if installation.note:
        print(f"\n{installation.note}")
    back = (
        f"; `hob restore {shlex.quote(str(backup))}`, since an older Hob refuses a newer one's database"
        if before
        else ""
    )
    print(f"\nThe way back: {installation.back}{back}.")
    _show_changes(changes, before, everything=all)


def _ran_before(diagnostics: DiagnosticContext) -> str:
    """Which Hob ran in this home last; nothing where none did."""
    try:
        return diagnostics.examined.last
    except NotLooked:
        return ""


def _steps(diagnostics: DiagnosticContext, installation: Installation, backup: str, *, kept: bool) -> list[str]:
    steps = [f"hob backup {shlex.quote(backup)}"] if kept else []
    steps += installation.upgrade
    if diagnostics.service_manager.file.exists() and diagnostics.service_manager.home() == str(diagnostics.home):
        steps.append("hob service restart")
    elif diagnostics.owner is not None and diagnostics.owner.daemon:
        steps.append("stop `hob serve` (Ctrl-C or SIGTERM) and start it again")
    return [*steps, "hob doctor"]


def _show_changes(changes: list[str], before: str, *, everything: bool) -> None:
    if not changes:
        print("\nWhat changes stands in CHANGELOG.md, which did not come along.")
        return
    print(
        f"\n{f'New since Hob {before}, which ran here last' if before not in ('', __version__) else 'New in this one'}:"
    )
    shown = changes if everything else changes[-_SHOWN:]
    if len(shown) < len(changes):
        print(paint(f"  … {len(changes) - len(shown)} more: `hob upgrade --all`", "dim"))
    for change in shown:
        print(f"  - {change}")
