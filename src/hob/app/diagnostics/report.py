"""Asking all checks, and mending what can be mended."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hob.app.diagnostics.check import CheckResult, DoctorCheck, Mend, warn
from hob.app.diagnostics.context import DiagnosticContext, NotLooked
from hob.app.home import own
from hob.app.subsystem import Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.core.errors import HomeTaken, NotConfigured, StoreFull
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.guard.audit.security.check import Severity

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """What one check has found."""

    id: str
    found: CheckResult


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What was found, what matters most first; and what could not be looked at, with the reason."""

    findings: tuple[DoctorFinding, ...]
    checks: int
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The highest severity."""
        return max((each.found.severity for each in self.findings), key=_ORDER.index, default=None)


def checks_of(subsystems: Iterable[Subsystem]) -> Sequence[DoctorCheck]:
    """The checks that these features declare."""
    return tuple(row for each in subsystems if each.checks is not None for row in each.checks())


def examine_house(
    diagnostics: DiagnosticContext,
    begins: Callable[[DoctorCheck], None] = lambda _: None,
    checks: Iterable[DoctorCheck] | None = None,
) -> DoctorReport:
    """Ask every check, told to `begins` before; nothing is changed, whatever state the house is in."""
    checks = checks_of(SUBSYSTEMS) if checks is None else tuple(checks)
    findings: list[DoctorFinding] = []
    skipped: list[tuple[str, str]] = []
    for check in checks:
        begins(check)
        try:
            findings += [DoctorFinding(check.id, found) for found in check.look(diagnostics)]
        except NotLooked as reason:
            skipped.append((check.id, reason.args[0]))
        except Exception as error:  # noqa: BLE001 - the wall: what no one thought of is what a doctor is for
            told = translatable("this could not be looked at: {kind}: {error}", kind=type(error).__name__, error=error)
            findings.append(
                DoctorFinding(check.id, warn(told, "please report this, with what is special about this machine"))
            )
    findings.sort(key=lambda finding: -_ORDER.index(finding.found.severity))
    return DoctorReport(tuple(findings), len(checks), tuple(skipped))


def mend(home: Path, findings: Iterable[DoctorFinding]) -> Sequence[str]:
    """Do what is safe; what was done. What needs the home for itself is left where somebody owns it."""
    mends = [found.mend for each in findings if (found := each.found).mend is not None]
    done = _done([each for each in mends if not each.alone])
    alone = [each for each in mends if each.alone]
    if alone:
        try:
            with own(home, "doctor"):
                done += _done(alone)
        except (HomeTaken, NotConfigured, StoreFull):
            return done
    return done


def _done(mends: Iterable[Mend]) -> list[str]:
    return [each.told for each in mends if each.perform()]
