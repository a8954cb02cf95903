"""Checks, their results, and fixes."""

from collections.abc import Callable, Iterable
from enum import StrEnum

from hob.app.diagnostics.context import DiagnosticContext
from hob.core.values import dataclass


class Severity(StrEnum):
    """How much a finding matters, least first."""

    INFO = "info"
    WARN = "warn"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Fix:
    """A safe change for `--fix`; `perform` returns whether it was done. `alone`: only while nobody owns the home."""

    told: str
    perform: Callable[[], bool]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One finding. `where` names the file, setting or value, `advice` the next step."""

    severity: Severity
    title: str
    advice: str
    where: str = ""
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a home. `run` yields findings; it raises CheckSkipped if it cannot know."""

    id: str
    question: str
    run: Callable[[DiagnosticContext], Iterable[CheckResult]]
    slow: bool = False
    """Whether to tell a waiting person what is being checked."""
    audit: bool = False
    """Whether it belongs to the security audit; `hob doctor` shows the others."""


def critical(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Return a finding: Hob does not work, or loses something."""
    return CheckResult(Severity.CRITICAL, title, advice, where, mend)


def warn(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Return a finding: something does not work, or soon will not."""
    return CheckResult(Severity.WARN, title, advice, where, mend)


def info(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Return a finding that is good to know."""
    return CheckResult(Severity.INFO, title, advice, where, mend)
