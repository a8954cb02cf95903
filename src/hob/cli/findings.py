"""Findings of `hob doctor` and `hob security audit`, as text and as JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hob.app.diagnostics.check import Severity
from hob.app.diagnostics.report import DiagnosticReport, Finding
from hob.cli.output import paint, printable, sentence
from hob.cli.translating import _, ngettext
from hob.core.translation.language import translatable

COLOURS = {Severity.CRITICAL: "red", Severity.WARN: "yellow", Severity.INFO: "dim"}
WORDS = {
    Severity.CRITICAL: translatable("critical"),
    Severity.WARN: translatable("warning"),
    Severity.INFO: translatable("note"),
}
"""Severities, in words."""


def report_view(report: DiagnosticReport, fixed: Sequence[str]) -> dict[str, Any]:
    """Return the report as JSON."""
    return {"checks": report.checks, "findings": [_view(each) for each in report.findings], "fixed": list(fixed)}


def _view(finding: Finding) -> dict[str, Any]:
    found = finding.found
    return {
        "id": finding.id,
        "severity": found.severity.value,
        "title": found.title,
        "where": found.where,
        "advice": found.advice,
        "fixable": found.fix is not None,
    }


def show_report(report: DiagnosticReport, fixed: Sequence[str]) -> None:
    """Print what was fixed, found, accepted and skipped, and the totals."""
    for told in fixed:
        print(f"{paint(_('fixed'), 'green')}     {printable(_(told))}")
    for each in report.findings:
        _show_one(each)
    for reason, count in Counter(reason for _id, reason in report.skipped).items():
        checks = ngettext("{count} check", "{count} checks", count)
        told = _("skipped   {checks} (not a problem): {reason}", checks=checks, reason=printable(_(reason)))
        print(paint(told, "dim"))
    for name in report.unknown:
        told = _("security.accept names {name}, but there is no such check", name=name)
        print(f"{paint(_('warning').ljust(8), 'yellow')}  {told}")
    found = [each.found.severity for each in report.findings if not each.accepted]
    critical, warnings, notes = map(found.count, (Severity.CRITICAL, Severity.WARN, Severity.INFO))
    totals = (
        ngettext("{count} critical", "{count} critical", critical) if critical else "",
        ngettext("{count} warning", "{count} warnings", warnings) if warnings else "",
        ngettext("{count} note", "{count} notes", notes) if notes else "",
    )
    told = ", ".join(filter(None, totals)) or _("nothing found")
    print(_("{count} checks: {found}", count=report.checks, found=told))


def _show_one(finding: Finding) -> None:
    found = finding.found
    where = f": {printable(found.where)}" if found.where else ""
    if finding.accepted:
        print(paint(f"{_('accepted')}  {finding.id}{where}", "dim"))
        return
    title = paint(f"{sentence(printable(_(found.title))).removesuffix('.')}{where}", "bold")
    word = paint(_(WORDS[found.severity]).ljust(8), COLOURS[found.severity])
    print(f"{word}  {title}  {paint(f'[{finding.id}]', 'dim')}")
    print(f"          {sentence(printable(_(found.advice)))}")
