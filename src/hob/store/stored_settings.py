"""Settings changed at run time."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import apsw

from hob.core.events.timeline import TimelineEvent
from hob.store.audit.audit import AuditedPart, AuditEntry
from hob.store.database.database import NAME
from hob.store.database.reading import shared
from hob.store.database.rows import all_rows
from hob.store.erasure.content import ContentWriter
from hob.store.timeline import write_events

_ALL = "SELECT key, value FROM settings ORDER BY key"
_PUT = (
    "INSERT INTO settings (key, value, updated) VALUES (?, ?, ?)"
    " ON CONFLICT DO UPDATE SET value = excluded.value, updated = excluded.updated"
)


class StoredSettings(AuditedPart):
    """Stored settings: key paths and their values as text."""

    async def load(self) -> Mapping[str, str]:
        """Return all stored settings."""
        return dict(await self._rows(_ALL))

    async def change(
        self, values: Mapping[str, str | None], entries: Iterable[AuditEntry] = (), events: Iterable[TimelineEvent] = ()
    ) -> None:
        """Store these values, delete those that are None, and write the audit entries and events."""
        at = self._now()
        kept = [(key, value, at) for key, value in values.items() if value is not None]
        gone = [(key,) for key, value in values.items() if value is None]

        def job(connection: apsw.Connection) -> None:
            connection.executemany(_PUT, kept)
            connection.executemany("DELETE FROM settings WHERE key = ?", gone)
            write_events(connection, ContentWriter(connection), events)

        await self._audit.write(job, lambda _: entries)


def read_stored(home: Path) -> Mapping[str, str]:
    """Return all stored settings of a home, even while another process has it open; empty without a database.

    Raises StoreErrors.
    """
    path = home / NAME
    if not path.exists():
        return {}
    with shared(path) as connection:
        return dict(all_rows(connection, _ALL))
