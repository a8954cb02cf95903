"""Checks, their results, and fixes."""

from collections.abc import Callable, Iterable
from enum import StrEnum

from hob.app.diagnostics.context import DiagnosticContext
from hob.core.values import dataclass


class Severity(StrEnum):
    """The severity of a finding, lowest first."""

    INFO = "info"
    WARN = "warn"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Fix:
    """A safe change for `--fix`; `perform` returns whether it was made. `alone`: only while the home is not in use."""

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
    """One check of a home. `run` yields findings; it raises CheckSkipped if the answer cannot be known."""

    id: str
    question: str
    run: Callable[[DiagnosticContext], Iterable[CheckResult]]
    slow: bool = False
    """Whether to say what is being checked, since it takes long."""
    audit: bool = False
    """Whether it belongs to the security audit; the others are shown by `hob doctor`."""


def critical(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Return a finding: Hob does not work, or data may be lost."""
    return CheckResult(Severity.CRITICAL, title, advice, where, mend)


def warn(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Return a finding: something does not work, or will soon stop working."""
    return CheckResult(Severity.WARN, title, advice, where, mend)


def info(title: str, advice: str, where: str = "", mend: Fix | None = None) -> CheckResult:
    """Return a finding that is merely good to know."""
    return CheckResult(Severity.INFO, title, advice, where, mend)
