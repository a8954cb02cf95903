"""`hob doctor`: what is wrong with this Hob, and what to do about it."""

import logging
import platform
import sys
from typing import Annotated

import apsw
from cyclopts import Parameter

from hob import __version__
from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.report import checks_of, examine_house, mend
from hob.app.plugins.loading import checks_of_plugins
from hob.app.subsystems import SUBSYSTEMS
from hob.cli.findings import report_view, show_report
from hob.cli.language import _
from hob.cli.output import paint, print_json
from hob.config.environment import find_home, process_environment


def doctor(
    *,
    fix: Annotated[bool, Parameter(help="Fix what is safe to fix, and say what was done.", negative="")] = False,
    offline: Annotated[bool, Parameter(help="Make no network requests.", negative="")] = False,
    json: Annotated[bool, Parameter(help="Print JSON.", negative="")] = False,
) -> int:
    """Look at settings, files, database, machine, service and models; tell what to do about what is wrong.

    Works with and without a running Hob, and changes nothing without --fix. Exit status 1 while anything critical is
    found.
    """
    logging.basicConfig(level=logging.CRITICAL)  # what is wrong is told as a finding
    environ = process_environment()
    home = find_home(environ)
    progress = _Progress()
    checks = (*checks_of(SUBSYSTEMS), *(each for each in checks_of_plugins(home) if not each.audit))
    report = examine_house(DiagnosticContext(home, environ, online=not offline), progress.begin, checks)
    mended = list(mend(home, report.findings)) if fix else []
    if mended:
        report = examine_house(DiagnosticContext(home, environ, online=not offline), progress.begin, checks)
    progress.end()
    versions = {"hob": __version__, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    skipped = [{"id": id, "reason": reason} for id, reason in report.skipped]
    if json:
        print_json({"about": versions | {"home": str(home)}, **report_view(report, mended), "skipped": skipped})
    else:
        told = _("Hob {hob}, Python {python}, SQLite {sqlite}; home {home}")
        print(paint(told.format(**versions, home=home), "dim"))
        show_report(report, mended)
    return 1 if report.worst is Severity.CRITICAL else 0


class _Progress:
    """What is being asked, on one line of standard error that goes away again; only where somebody sits there."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._open = False

    def begin(self, check: Check) -> None:
        self.end()
        if self._live and check.slow:
            print(paint(_(check.question), "dim", sys.stderr), end="", file=sys.stderr, flush=True)
            self._open = True

    def end(self) -> None:
        if self._open:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._open = False
