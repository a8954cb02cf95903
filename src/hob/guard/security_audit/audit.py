"""Asking all checks."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from hob.guard.security_audit.check import Check, Severity, Tightening
from hob.guard.security_audit.checks import CHECKS
from hob.guard.security_audit.facts import Facts

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that could be safer. `where` names the file, setting or value; `fix` is what `--fix` would do."""

    id: str
    severity: Severity
    title: str
    where: str
    advice: str
    fix: Tightening | None = None
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks found, what matters most first, and what was accepted without there being such a check."""

    findings: tuple[Finding, ...]
    checks: int
    unknown: tuple[str, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The highest severity of what is not accepted."""
        return max((each.severity for each in self.findings if not each.accepted), key=_ORDER.index, default=None)


def audit(facts: Facts, accepted: Collection[str] = (), checks: Iterable[Check] = CHECKS) -> Report:
    """Ask every check. What the owner accepts is still told, apart; a misspelt id accepts nothing and is named."""
    checks = tuple(checks)
    found = [_finding(check, each, accepted) for check in checks for each in check.find(facts)]
    found.sort(key=lambda finding: (finding.accepted, -_ORDER.index(finding.severity)))
    unknown = sorted(set(accepted) - {check.id for check in checks})
    return Report(tuple(found), len(checks), tuple(unknown))


def _finding(check: Check, found: str | Tightening, accepted: Collection[str]) -> Finding:
    fix = found if isinstance(found, Tightening) else None
    where = fix.path if fix else str(found)
    return Finding(check.id, check.severity, check.title, where, check.advice, fix, check.id in accepted)
