"""What a check is, what it finds, and what can be mended."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hob.app.doctor.house import House
from hob.guard.security_audit.check import Severity


@dataclass(frozen=True, slots=True)
class Mend:
    """Something safe for `--fix`; `perform` says whether it was done. `alone`: only while nobody owns the home."""

    told: str
    perform: Callable[[], bool]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that is wrong. `where` names the file, setting or value, `advice` the next step."""

    severity: Severity
    title: str
    advice: str
    where: str = ""
    mend: Mend | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a house. `look` gives what is wrong; it raises NotLooked where it cannot know."""

    id: str
    question: str
    look: Callable[[House], Iterable[Found]]
    slow: bool = False
    """Whether whoever waits should be told what for."""


def critical(title: str, advice: str, where: str = "", mend: Mend | None = None) -> Found:
    """Hob does not work, or loses something."""
    return Found(Severity.CRITICAL, title, advice, where, mend)


def warn(title: str, advice: str, where: str = "", mend: Mend | None = None) -> Found:
    """Something does not work, or soon will not."""
    return Found(Severity.WARN, title, advice, where, mend)


def info(title: str, advice: str, where: str = "", mend: Mend | None = None) -> Found:
    """Good to know."""
    return Found(Severity.INFO, title, advice, where, mend)
