"""What the owner does at the command line to files that no database holds, for the audit log."""

import sys
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.errors import StoreError
from hob.core.trust.labels import SenderClass


def audit_action(home: Path, name: str, target: str) -> None:
    """Put into the home's audit log that this was done, no matter who has it open; where there is none yet, nowhere."""
    from hob.guard.audit.entries import of_action  # both load SQLite
    from hob.store.audit.audit import append_audit

    try:
        append_audit(home, SystemClock(), of_action(name, "done", SenderClass.OWNER, target=target))
    except StoreError as error:
        print(f"done, but not in the audit log: {error}", file=sys.stderr)
