"""The data of a person: how much of it there is, and who else mentions them."""

import re
from collections import Counter
from collections.abc import Mapping

import apsw

from hob.core.values import dataclass
from hob.store.database.part import StorePart, snapshot
from hob.store.database.rows import all_rows
from hob.store.erasure.erasure import ErasurePerson
from hob.store.erasure.selection import DERIVED

_MINE = "(SELECT value FROM json_each(:key, '$.senders'))"
_COUNTS = (
    "SELECT count(*), count(DISTINCT turn), count(DISTINCT session) FROM inbox JOIN content c ON c.id = inbox.text"  # noqa: S608
    f" WHERE sender IN {_MINE} AND c.text IS NOT NULL"
)
_FACTS = f"SELECT count(*) FROM timeline WHERE trace_id IN (SELECT trace_id FROM inbox WHERE sender IN {_MINE})"  # noqa: S608
_OTHERS = (
    "SELECT t.session, c.text FROM transcript t JOIN content c ON c.id = t.text WHERE c.text IS NOT NULL"  # noqa: S608
    f" AND t.turn NOT IN (SELECT turn FROM inbox WHERE sender IN {_MINE} AND turn IS NOT NULL)"
)

_REMEMBERED = tuple(
    f"SELECT c.text FROM {table} r JOIN content c ON c.id = r.text WHERE c.text IS NOT NULL AND {which} ORDER BY c.id"  # noqa: S608
    for table, which in (("memory_items", f"r.{DERIVED}"), ("working_notes", "1"))
)


@dataclass(frozen=True, slots=True)
class PersonData:
    """Counts of a person's data: unerased messages, turns that worked on them, sessions they appear in.

    `events` are facts that stay; `mentions` counts how often others name them, by session.
    """

    messages: int
    turns: int
    sessions: int
    events: int
    mentions: Mapping[str, int]
    named: tuple[str, ...] = ()
    """Sessions whose keys name them."""
    memories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Memories and session notes that name them."""


class StoredPersonData(StorePart):
    """Reads the data of a person; each call scans the whole database."""

    async def senders(self) -> tuple[str, ...]:
        """Return everyone who has ever written, as `channel:account:id`."""
        sql = "SELECT DISTINCT sender FROM inbox"
        return tuple(row[0] for row in await self._rows(sql))

    @snapshot
    def of(self, connection: apsw.Connection, whose: ErasurePerson, names: re.Pattern[str] | None) -> PersonData:
        """Return the data of these senders, and where others mention `names`."""
        values = {"key": whose.key()}
        messages, turns, sessions = all_rows(connection, _COUNTS, values)[0]
        (events,) = all_rows(connection, _FACTS, values)[0]
        mentions: Counter[str] = Counter()
        if names is not None:
            for session, text in connection.execute(_OTHERS, values):
                mentions[session] += bool(names.search(text))
        keys = [row[0] for row in all_rows(connection, "SELECT key FROM sessions ORDER BY key")]
        named = tuple(session for session in keys if names is not None and names.search(session))
        memories, notes = (
            tuple(row[0] for row in all_rows(connection, sql) if names is not None and names.search(row[0]))
            for sql in _REMEMBERED
        )
        return PersonData(messages, turns, sessions, events, dict(+mentions), named, memories, notes)
