"""`hob doctor`: what is wrong with this Hob, and what to do about it."""

import logging
import platform
import sys
from collections import Counter
from typing import Annotated, Any

import apsw
from cyclopts import Parameter

from hob import __version__
from hob.app.diagnostics.check import DoctorCheck
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.report import DoctorFinding, DoctorReport, checks_of, examine_house, mend
from hob.app.plugins.loading import checks_of_plugins
from hob.app.subsystems import SUBSYSTEMS
from hob.cli.language import _, ngettext
from hob.cli.output import paint, print_json, tame
from hob.config.environment import find_home, process_environment
from hob.guard.audit.security.check import Severity

COLOURS = {Severity.CRITICAL: "red", Severity.WARN: "yellow", Severity.INFO: "dim"}


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
    checks = (*checks_of(SUBSYSTEMS), *checks_of_plugins(home))
    report = examine_house(DiagnosticContext(home, environ, online=not offline), progress.begin, checks)
    mended = list(mend(home, report.findings)) if fix else []
    if mended:
        report = examine_house(DiagnosticContext(home, environ, online=not offline), progress.begin, checks)
    progress.end()
    versions = {"hob": __version__, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    if json:
        print_json(_view(report, mended, versions | {"home": str(home)}))
    else:
        told = _("Hob {hob}, Python {python}, SQLite {sqlite}; home {home}")
        print(paint(told.format(**versions, home=home), "dim"))
        _show(report, mended)
    return 1 if report.worst is Severity.CRITICAL else 0


class _Progress:
    """What is being asked, on one line of standard error that goes away again; only where somebody sits there."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._open = False

    def begin(self, check: DoctorCheck) -> None:
        self.end()
        if self._live and check.slow:
            print(paint(_(check.question), "dim", sys.stderr), end="", file=sys.stderr, flush=True)
            self._open = True

    def end(self) -> None:
        if self._open:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._open = False


def _view(report: DoctorReport, mended: list[str], about: dict[str, str]) -> dict[str, Any]:
    findings = [
        {
            "id": each.id,
            "severity": each.found.severity.value,
            "title": each.found.title,
            "where": each.found.where,
            "advice": each.found.advice,
            "fixable": each.found.mend is not None,
        }
        for each in report.findings
    ]
    skipped = [{"id": id, "reason": reason} for id, reason in report.skipped]
    return {"about": about, "checks": report.checks, "findings": findings, "fixed": mended, "skipped": skipped}


def _show(report: DoctorReport, mended: list[str]) -> None:
    for told in mended:
        print(f"{paint(_('fixed'), 'green')}     {tame(_(told))}")
    for each in report.findings:
        _show_one(each)
    for reason, count in Counter(reason for _id, reason in report.skipped).items():
        checks = ngettext("{count} check", "{count} checks", count)
        told = _("not asked  {checks}, because {reason}").format(checks=checks, reason=tame(_(reason)))
        print(paint(told, "dim"))
    found = ", ".join(
        f"{number} {_(severity.value)}"
        for severity in reversed(Severity)
        if (number := sum(each.found.severity is severity for each in report.findings))
    )
    print(_("{count} checks: {found}").format(count=report.checks, found=found or _("nothing found")))


def _show_one(each: DoctorFinding) -> None:
    found = each.found
    where = f": {tame(found.where)}" if found.where else ""
    print(f"{paint(_(found.severity.value).ljust(8), COLOURS[found.severity])}  {paint(each.id, 'bold')}{where}")
    print(f"          {tame(_(found.title).rstrip('.'))}; {tame(_(found.advice))}")
