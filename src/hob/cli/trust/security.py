"""`hob security`: find what could be safer."""

from cyclopts import App

from hob.app.diagnostics.check import Severity
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.report import apply_fixes, checks_of, run_checks
from hob.app.diagnostics.settings import SecuritySettings
from hob.app.plugins.loading import checks_of_plugins
from hob.app.settings.sections import read_config
from hob.app.subsystems import SUBSYSTEMS
from hob.cli.findings import report_view, show_report
from hob.cli.output import print_json
from hob.config.environment import process_environment

app = App(
    name="security",
    help="Show what could be safer about this Hob.",
    result_action="return_value",
)


@app.default
@app.command
def audit(*, fix: bool = False, json: bool = False) -> int:
    """Check settings, files and this machine, and say how to fix what is found. Needs no daemon.

    Exit status 1 if anything critical is found that you have not accepted in `security.accept`.

    Parameters
    ----------
    fix:
        Restrict permissions that are too wide; changes nothing else.
    json:
        Print JSON.
    """
    config, environ = read_config(), process_environment()
    accepted, theirs = config[SecuritySettings].accept, checks_of_plugins(config.home)
    checks = (*checks_of(SUBSYSTEMS, audit=True), *(each for each in theirs if each.audit))
    report = run_checks(DiagnosticContext(config.home, environ), checks=checks, accepted=accepted)
    fixed = list(apply_fixes(config.home, report.findings)) if fix else []
    if fix:
        report = run_checks(DiagnosticContext(config.home, environ), checks=checks, accepted=accepted)
    if json:
        view = report_view(report, fixed)
        marked = zip(view["findings"], report.findings, strict=True)
        view["findings"] = [{**each, "accepted": found.accepted} for each, found in marked]
        print_json({**view, "unknown": list(report.unknown)})
    else:
        show_report(report, fixed)
    return 1 if report.worst is Severity.CRITICAL else 0
