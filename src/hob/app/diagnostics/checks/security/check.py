"""Construction of a security check."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from hob.app.diagnostics.check import Check, CheckResult, Fix, Severity
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.security_facts import tighten
from hob.app.diagnostics.security_values import (
    Found,
    PermissionFix,
    SecurityFacts,
)

OTHERS_WRITE = 0o022


def security_check(
    id: str,
    severity: Severity,
    title: str,
    advice: str,
    find: Callable[[SecurityFacts], Iterable[Found]],
    read_only: str = "",
) -> Check:
    """Make a check. `find` yields the problems, `title` says what they mean, `advice` what to do.

    `read_only` replaces the title for files that others may read but not change.
    """

    def look(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
        for each in find(diagnostics.security):
            where = each.path if isinstance(each, PermissionFix) else each
            fix = Fix(where, partial(tighten, each)) if isinstance(each, PermissionFix) else None
            readable = read_only and isinstance(each, PermissionFix) and not each.remove & OTHERS_WRITE
            yield CheckResult(severity, read_only if readable else title, advice, where, fix)

    return Check(id, title, look, audit=True)
