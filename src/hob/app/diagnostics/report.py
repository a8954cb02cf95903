"""Running all checks, and applying fixes."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from hob.app.diagnostics.check import Check, CheckResult, Fix, Severity, warn
from hob.app.diagnostics.context import CheckSkipped, DiagnosticContext
from hob.app.home import own
from hob.app.subsystem import Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.core.errors import HomeInUse, NotConfigured, StoreFull
from hob.core.translation.language import translatable
from hob.core.values import dataclass

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of one check."""

    id: str
    found: CheckResult
    accepted: bool = False
    """Whether the owner accepts it."""


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """The findings, most important first, and the checks that were skipped, with reasons.

    `unknown` are accepted ids without a check.
    """

    findings: tuple[Finding, ...]
    checks: int
    skipped: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The highest severity of findings that are not accepted."""
        return max((each.found.severity for each in self.findings if not each.accepted), key=_ORDER.index, default=None)


def checks_of(subsystems: Iterable[Subsystem], *, audit: bool = False) -> Sequence[Check]:
    """Return these features' checks of `hob doctor`, or of the security audit."""
    declared = (row for each in subsystems if each.checks is not None for row in each.checks())
    return tuple(row for row in declared if row.audit is audit)


def run_checks(
    diagnostics: DiagnosticContext,
    begins: Callable[[Check], None] = lambda _: None,
    checks: Iterable[Check] | None = None,
    accepted: Collection[str] = (),
) -> DiagnosticReport:
    """Run every check; `begins` is called before each. Nothing is changed, whatever the state of the home.

    Accepted findings are reported last.
    """
    checks = checks_of(SUBSYSTEMS) if checks is None else tuple(checks)
    findings: list[Finding] = []
    skipped: list[tuple[str, str]] = []
    for check in checks:
        begins(check)
        try:
            findings += [Finding(check.id, found, check.id in accepted) for found in check.run(diagnostics)]
        except CheckSkipped as reason:
            skipped.append((check.id, reason.args[0]))
        except Exception as error:  # noqa: BLE001 - an unexpected error in one check must not end the others
            told = translatable("this could not be looked at: {kind}: {error}", kind=type(error).__name__, error=error)
            findings.append(
                Finding(check.id, warn(told, "please report this, with what is special about this machine"))
            )
    findings.sort(key=lambda finding: (finding.accepted, -_ORDER.index(finding.found.severity)))
    unknown = sorted(set(accepted).difference(check.id for check in checks))
    return DiagnosticReport(tuple(findings), len(checks), tuple(skipped), tuple(unknown))


def apply_fixes(home: Path, findings: Iterable[Finding]) -> Sequence[str]:
    """Apply safe fixes. Return what was done. Fixes that need exclusive access are skipped if the home is in use."""
    mends = [mend for each in findings if (mend := each.found.fix) is not None and not each.accepted]
    done = _perform([each for each in mends if not each.alone])
    alone = [each for each in mends if each.alone]
    if alone:
        try:
            with own(home, "doctor"):
                done += _perform(alone)
        except (HomeInUse, NotConfigured, StoreFull):
            return done
    return done


def _perform(mends: Iterable[Fix]) -> list[str]:
    return [each.told for each in mends if each.perform()]
