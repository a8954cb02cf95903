"""Audit entries for what the owner does to files outside the database at the command line."""

import sys
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.errors import StoreError
from hob.core.trust.labels import SenderClass


def audit_action(home: Path, name: str, target: str) -> None:
    """Record an action in the home's audit log, whether or not Hob runs; skipped if there is no log yet."""
    from hob.guard.audit.entries import of_action  # both load SQLite
    from hob.store.audit.audit import append_audit

    try:
        append_audit(home, SystemClock(), of_action(name, "done", SenderClass.OWNER, target=target))
    except StoreError as error:
        print(f"done, but not in the audit log: {error}", file=sys.stderr)
