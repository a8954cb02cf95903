"""`hob security`: what could be safer about this Hob."""

from typing import Any

from cyclopts import App

from hob.app.diagnostics.security_facts import gather, tighten
from hob.app.settings_sections import read_config
from hob.cli.language import _
from hob.cli.output import paint, print_json
from hob.config.environment import process_environment
from hob.guard.audit.security.check import Severity
from hob.guard.audit.security.report import SecurityFinding, SecurityReport
from hob.guard.audit.security.report import audit as check_all
from hob.guard.audit.security.settings import SecuritySettings

app = App(
    name="security",
    help="Show what could be safer about this Hob.",
    result_action="return_value",
)
_COLOURS = {Severity.CRITICAL: "red", Severity.WARN: "yellow", Severity.INFO: "dim"}


@app.command
def audit(*, fix: bool = False, json: bool = False) -> int:
    """Check settings, files and this machine; say how to fix what is found. Needs no daemon.

    Exit status 1 while anything critical is found that you have not accepted in `security.accept`.

    Parameters
    ----------
    fix:
        Restrict permissions that are too wide; changes nothing else.
    json:
        Print JSON.
    """
    config = read_config()
    accepted = config[SecuritySettings].accept
    report = check_all(gather(config, process_environment()), accepted)
    fixed: list[str] = []
    if fix:
        wanted = [each.fix for each in report.findings if each.fix and not each.accepted]
        fixed = [each.path for each in wanted if tighten(each)]
        report = check_all(gather(config, process_environment()), accepted)
    if json:
        print_json(_view(report, fixed))
    else:
        _show(report, fixed)
    return 1 if report.worst is Severity.CRITICAL else 0


def _view(report: SecurityReport, fixed: list[str]) -> dict[str, Any]:
    findings = [
        {
            "id": each.id,
            "severity": each.severity.value,
            "title": each.title,
            "where": each.where,
            "advice": each.advice,
            "fixable": each.fix is not None,
            "accepted": each.accepted,
        }
        for each in report.findings
    ]
    return {"checks": report.checks, "findings": findings, "fixed": fixed, "unknown": list(report.unknown)}


def _show(report: SecurityReport, fixed: list[str]) -> None:
    for path in fixed:
        print(f"{paint(_('fixed'), 'green')}     {path}")
    open_ones = [each for each in report.findings if not each.accepted]
    for each in open_ones:
        _show_one(each)
    for each in report.findings[len(open_ones) :]:
        print(paint(f"{_('accepted')}  {each.id}{f': {each.where}' if each.where else ''}", "dim"))
    for name in report.unknown:
        told = _("security.accept names {name}, and there is no such check").format(name=name)
        print(f"{paint(_('warn').ljust(8), 'yellow')}  {told}")
    found = ", ".join(
        f"{number} {_(severity.value)}"
        for severity in reversed(Severity)
        if (number := sum(each.severity is severity for each in open_ones))
    )
    print(_("{count} checks: {found}").format(count=report.checks, found=found or _("nothing found")))


def _show_one(found: SecurityFinding) -> None:
    where = f": {found.where}" if found.where else ""
    print(f"{paint(_(found.severity.value).ljust(8), _COLOURS[found.severity])}  {paint(found.id, 'bold')}{where}")
    print(f"          {_(found.title)}; {_(found.advice)}")
