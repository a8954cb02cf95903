"""`hob doctor`: find problems and say how to fix them."""

import logging
import platform
from typing import Annotated

import apsw
from cyclopts import Parameter

from hob import __version__
from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.report import apply_fixes, checks_of, run_checks
from hob.app.plugins.loading import checks_of_plugins
from hob.app.subsystems import SUBSYSTEMS
from hob.cli.findings import report_view, show_report
from hob.cli.output import ProgressLine, paint, print_json
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment


def doctor(
    *,
    fix: Annotated[bool, Parameter(help="Fix what is safe to fix, and say what was done.", negative="")] = False,
    offline: Annotated[bool, Parameter(help="Make no network requests.", negative="")] = False,
    json: Annotated[bool, Parameter(help="Print JSON.", negative="")] = False,
) -> int:
    """Check settings, files, database, machine, service and models, and say how to fix what is wrong.

    Works with and without a running Hob, and changes nothing without --fix. Findings are critical (Hob does not work,
    or loses data), warnings (something does not work, or will soon stop working) or notes. Checks that cannot run now
    are skipped. Exit status 1 if anything critical is found, else 0.
    """
    logging.basicConfig(level=logging.CRITICAL)  # problems are reported as findings
    environ = process_environment()
    home = find_home(environ)
    progress = ProgressLine()

    def begin(check: Check) -> None:
        progress.end()
        if check.slow:
            progress.show(_(check.question))

    checks = (*checks_of(SUBSYSTEMS), *(each for each in checks_of_plugins(home) if not each.audit))
    report = run_checks(DiagnosticContext(home, environ, online=not offline), begin, checks)
    mended = list(apply_fixes(home, report.findings)) if fix else []
    if mended:
        report = run_checks(DiagnosticContext(home, environ, online=not offline), begin, checks)
    progress.end()
    versions = {"hob": __version__, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    skipped = [{"id": id, "reason": reason} for id, reason in report.skipped]
    if json:
        print_json({"about": versions | {"home": str(home)}, **report_view(report, mended), "skipped": skipped})
    else:
        print(paint(_("Hob {hob}, Python {python}, SQLite {sqlite}; home {home}", **versions, home=home), "dim"))
        show_report(report, mended)
    return 1 if report.worst is Severity.CRITICAL else 0
