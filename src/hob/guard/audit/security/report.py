"""Asking all checks."""

from collections.abc import Collection, Iterable

from hob.core.values import dataclass
from hob.guard.audit.security.check import SecurityCheck, SecurityFacts, Severity, Tightening
from hob.guard.audit.security.checks import CHECKS

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class SecurityFinding:
    """One thing that could be safer. `where` names the file, setting or value; `fix` is what `--fix` would do."""

    id: str
    severity: Severity
    title: str
    where: str
    advice: str
    fix: Tightening | None = None
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class SecurityReport:
    """What the checks found, what matters most first, and what was accepted without there being such a check."""

    findings: tuple[SecurityFinding, ...]
    checks: int
    unknown: tuple[str, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The highest severity of what is not accepted."""
        return max((each.severity for each in self.findings if not each.accepted), key=_ORDER.index, default=None)


def audit(
    facts: SecurityFacts, accepted: Collection[str] = (), checks: Iterable[SecurityCheck] = CHECKS
) -> SecurityReport:
    """Ask every check. What the owner accepts is still told, apart; a misspelt id accepts nothing and is named."""
    checks = tuple(checks)
    found = [_finding(check, each, accepted) for check in checks for each in check.find(facts)]
    found.sort(key=lambda finding: (finding.accepted, -_ORDER.index(finding.severity)))
    unknown = sorted(set(accepted) - {check.id for check in checks})
    return SecurityReport(tuple(found), len(checks), tuple(unknown))


def _finding(check: SecurityCheck, found: str | Tightening, accepted: Collection[str]) -> SecurityFinding:
    fix = found if isinstance(found, Tightening) else None
    where = fix.path if fix else str(found)
    return SecurityFinding(check.id, check.severity, check.title, where, check.advice, fix, check.id in accepted)
