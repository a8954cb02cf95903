"""What a check is, what it finds, and what can be mended."""

from collections.abc import Callable, Iterable
from enum import StrEnum

from hob.app.diagnostics.context import DiagnosticContext
from hob.core.values import dataclass


class Severity(StrEnum):
    """How much it matters, from the least to the most."""

    INFO = "info"
    WARN = "warn"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Fix:
    """Something safe for `--fix`; `perform` says whether it was done. `alone`: only while no one owns the home."""

    told: str
    perform: Callable[[], bool]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that is wrong. `where` names the file, setting or value, `advice` the next step."""

    severity: Severity
    title: str
    advice: str
    where: str = ""
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a home. `run` gives what is wrong; it raises CheckSkipped where it cannot know."""

    id: str
    question: str
    run: Callable[[DiagnosticContext], Iterable[CheckResult]]
    slow: bool = False
    """Whether anyone who waits should be told what for."""
    audit: bool = False
    """Whether it is of the security audit; `hob doctor` shows the others."""


def critical(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Hob does not work, or loses something."""
    return CheckResult(Severity.CRITICAL, title, advice, where, mend)


def warn(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Something does not work, or soon will not."""
    return CheckResult(Severity.WARN, title, advice, where, mend)


def info(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Good to know."""
    return CheckResult(Severity.INFO, title, advice, where, mend)
