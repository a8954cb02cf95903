"""The scope of an erasure: turns, texts and blobs, selected by statements."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import apsw

from hob.core.values import dataclass
from hob.store.codec import load_inbound
from hob.store.database.rows import Row, all_rows
from hob.store.memory.tombstones import tombstone_of_item
from hob.store.titles import title_of

_DOOMED = "IN doomed"
_NOTHING: Mapping[str, object] = MappingProxyType({})
_SCOPE = """
    CREATE TEMP TABLE IF NOT EXISTS doomed_turns (id TEXT PRIMARY KEY) STRICT;
    CREATE TEMP TABLE IF NOT EXISTS doomed_traces (id TEXT PRIMARY KEY) STRICT;
    CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY) STRICT;
    DELETE FROM doomed_turns; DELETE FROM doomed_traces; DELETE FROM doomed;
"""
# What sub-agents, and other conversations that were written to, did for these turns, and its report.
_RUN = "subagents s JOIN inbox i ON i.id IN (s.id, s.steer, s.id || 'r')"
_CAUSED = (
    "INSERT OR IGNORE INTO doomed_turns WITH RECURSIVE found(id) AS (SELECT id FROM doomed_turns UNION"  # noqa: S608
    f" SELECT i.turn FROM {_RUN} JOIN found ON s.turn = found.id WHERE i.turn IS NOT NULL) SELECT id FROM found",
    f"INSERT OR IGNORE INTO doomed_traces SELECT i.trace_id FROM {_RUN} WHERE s.turn IN doomed_turns",  # noqa: S608
)
_OF_SUBAGENTS = "(SELECT session FROM subagents WHERE kind = 'spawn' AND turn IN doomed_turns)"
_NAMES_OF_SUBAGENTS = (
    f"SELECT title FROM sessions WHERE key IN {_OF_SUBAGENTS}",  # noqa: S608
    f"SELECT content FROM timeline WHERE kind = 'session' AND session IN {_OF_SUBAGENTS}",  # noqa: S608
)
# An undo is stored as changes of its own turn, and can itself be undone.
_UNDOING = "INSERT OR IGNORE INTO doomed_turns SELECT 'undo:' || id FROM doomed_turns"
# Derived from memories to be erased, transitively.
_DERIVED = (
    "INSERT OR IGNORE INTO doomed WITH RECURSIVE gone(id) AS (SELECT id FROM memory_items WHERE text IN doomed"
    " UNION SELECT m.id FROM gone JOIN memory_evidence e ON e.source = gone.id JOIN memory_items m ON m.seq = e.seq)"
    " SELECT text FROM memory_items WHERE id IN (SELECT id FROM gone)"
)
# A summary that covers an erased entry may repeat it.
_SUMMARIES_OF_TURNS = (
    "SELECT m.text FROM summaries m WHERE EXISTS (SELECT 1 FROM transcript t WHERE t.session = m.session"
    " AND t.n <= m.upto AND t.turn IN doomed_turns)"
)
# Notices of what was remembered, with the command that removes it; a running turn keeps its steps.
_FACTS = "SELECT id FROM memory_items WHERE text IN doomed AND layer = 'fact'"
_TOLD = (
    "SELECT c.id, c.text FROM content c WHERE instr(c.text, '/memory undo ') AND c.id NOT IN (SELECT s.body"
    " FROM steps s JOIN turns t ON t.id = s.turn"
    " WHERE t.state IN ('ready', 'running', 'parked') AND s.body IS NOT NULL)"
)
_INBOUNDS = (
    "SELECT i.version, c.text, b.text FROM inbox i JOIN content c ON c.id = i.text JOIN content b ON b.id = i.body"
    " WHERE i.trace_id IN doomed_traces AND b.text IS NOT NULL"
)
# Blobs that content refers to; `among` is all content, or the content to be erased.
_ATTACHED = (
    "SELECT i.version, c.text FROM inbox i JOIN content c ON c.id = i.body"
    " WHERE instr(c.text, '\"attachments\"') AND c.id {among}"
)
_RESTS = (
    "SELECT c.text ->> '$.result.rest' FROM steps s JOIN content c ON c.id = s.body"
    " WHERE s.kind = 'tool_received' AND c.text IS NOT NULL AND c.id {among}"
)
_IMAGES = (
    "SELECT image.value ->> 0 FROM transcript t JOIN content c ON c.id = t.extra, json_each(c.text, '$.images') image"
    " WHERE c.text IS NOT NULL AND c.id {among}"
)
_SHOWN = (
    "SELECT image.value ->> '$.blob' FROM steps s JOIN content c ON c.id = s.body,"
    " json_each(c.text, '$.result.images') image"
    " WHERE s.kind = 'tool_received' AND c.text IS NOT NULL AND c.id {among}"
)
_SENT = (
    "SELECT file.value ->> 2 FROM outbox o JOIN content c ON c.id = o.extra, json_each(c.text, '$.attachments') file"
    " WHERE c.text IS NOT NULL AND c.id {among}"
)
_REPLACED = "SELECT blob FROM file_changes WHERE blob IS NOT NULL AND body {among}"
_MEDIA = "SELECT media FROM timeline WHERE trace_id IN doomed_traces AND media IS NOT NULL"
_TITLES = (
    "SELECT DISTINCT s.title, c.text FROM inbox i JOIN sessions s ON s.key = i.session JOIN content c ON c.id = s.title"
    " WHERE i.trace_id IN doomed_traces"
)
# A fork takes its title from the conversation it copies; the timeline has it too.
_FORKED = "IN (SELECT session FROM transcript WHERE turn IN doomed_turns)"
_TITLES_OF_FORKS = (
    f"SELECT c.id, c.text FROM sessions s JOIN content c ON c.id = s.title WHERE s.key {_FORKED}"  # noqa: S608
    " UNION SELECT c.id, c.text FROM timeline e JOIN content c ON c.id = e.content"
    f" WHERE e.kind = 'session' AND e.name IN ('created', 'title') AND e.session {_FORKED}"
)
_SHOWN_ID = 12
"""Number of characters of an item's id that people see."""
DERIVED = "layer IN ('fact', 'observation')"
"""Selects items derived from messages; all others repeat a conversation or a file."""
_REMEMBERED = (
    "SELECT c.id, c.text FROM content c WHERE c.text IS NOT NULL"  # noqa: S608
    f" AND c.id IN (SELECT text FROM memory_items m WHERE m.{DERIVED} UNION SELECT text FROM working_notes)"
)
_STONES = (
    "SELECT -1, stone FROM memory_items WHERE text IN doomed"
    " UNION SELECT -1, stone FROM working_notes WHERE text IN doomed"
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Scope of an erasure: statements that select turns and content, and texts of memories."""

    key: str
    scope: Sequence[str]
    content: Sequence[str]
    names: re.Pattern[str] | None = None


def select_turns(connection: apsw.Connection, asked: Selection) -> None:
    """Select the turns to erase, into temporary tables of this connection."""
    connection.execute(_SCOPE)
    for statement in (*asked.scope, *_CAUSED, _UNDOING, _UNDOING):
        connection.execute(statement, {"key": asked.key})


def select_content(connection: apsw.Connection, asked: Selection) -> tuple[list[Row], set[str]]:
    """Select what to erase of these turns: texts as (id, hash), and blobs."""
    for select in (*asked.content, *_NAMES_OF_SUBAGENTS, _SUMMARIES_OF_TURNS):
        connection.execute(f"INSERT OR IGNORE INTO doomed {_present(select)}", {"key": asked.key})
    if asked.names is not None:
        found = [(id,) for id, text in all_rows(connection, _REMEMBERED) if asked.names.search(text)]
        connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?)", found)
    connection.execute(_DERIVED)
    if facts := [row[0][:_SHOWN_ID] for row in all_rows(connection, _FACTS)]:
        told = re.compile("|".join(facts))
        texts = [(id,) for id, text in all_rows(connection, _TOLD) if told.search(text)]
        connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?)", texts)
    said = {title_of(text) for _, text, _ in all_rows(connection, _INBOUNDS)} - {""}
    endings = tuple(f" {text}" for text in said)
    for title, text in (*all_rows(connection, _TITLES), *all_rows(connection, _TITLES_OF_FORKS)):
        if text in said or (text or "").endswith(endings):
            connection.execute("INSERT OR IGNORE INTO doomed VALUES (?)", (title,))
    named = named_blobs(connection, _DOOMED, _DOOMED, _DOOMED, _DOOMED, _DOOMED)
    blobs = named | {row[0] for row in all_rows(connection, _MEDIA)}
    sql = "SELECT id, hash FROM content WHERE id IN doomed AND text IS NOT NULL ORDER BY id"
    return all_rows(connection, sql), blobs


def tombstones_of(connection: apsw.Connection, texts: Sequence[Row], blobs: set[str]) -> list[Row]:
    """Return the tombstones (content, hash) of the selection."""
    ids = all_rows(connection, "SELECT id FROM memory_items WHERE text IN doomed")
    items = ((-1, tombstone_of_item(id)) for (id,) in ids)  # an item is known by this hash when it is imported again
    return [*texts, *all_rows(connection, _STONES), *items, *((0, bytes.fromhex(blob)) for blob in sorted(blobs))]


def _present(select: str) -> str:
    return f"WITH found(id) AS ({select}) SELECT id FROM found WHERE id IS NOT NULL"  # noqa: S608


def named_blobs(
    connection: apsw.Connection,
    inbounds: str = "NOT NULL",
    steps: str = "NOT NULL",
    entries: str = "NOT NULL",
    changes: str = "NOT NULL",
    sent: str = "NOT NULL",
    values: Mapping[str, object] = _NOTHING,
) -> set[str]:
    """Return the blobs that unerased content refers to; of each kind only content with this id (SQL after `id`)."""
    of_steps = all_rows(connection, _RESTS.format(among=steps), dict(values))
    of_entries = all_rows(connection, _IMAGES.format(among=entries), dict(values))
    shown = all_rows(connection, _SHOWN.format(among=steps), dict(values))
    replaced = all_rows(connection, _REPLACED.format(among=changes))
    of_sent = all_rows(connection, _SENT.format(among=sent), dict(values))
    found = {row[0] for row in (*of_steps, *of_entries, *shown, *replaced, *of_sent)}
    for version, body in all_rows(connection, _ATTACHED.format(among=inbounds), dict(values)):
        found.update(file.blob for file in load_inbound(version, "", body).attachments)
    return found - {None, ""}


def newest_of(connection: apsw.Connection, blobs: set[str]) -> float:
    """Return when the newest of them was stored: a tombstone must not be older, even if the wall clock was set back."""
    sql = "SELECT at FROM blobs WHERE id = ?"
    item: float = all_rows(connection, "SELECT coalesce(max(at), 0.0) FROM memory_items WHERE text IN doomed")[0][0]
    times: list[float] = [item, *(row[0] for blob in blobs for row in all_rows(connection, sql, (blob,)))]
    return max(times)
