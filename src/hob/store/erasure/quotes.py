"""Messages that repeat a text verbatim."""

import json
from collections.abc import Iterable, Iterator, Sequence

import apsw

from hob.core.values import dataclass
from hob.store.database.rows import all_rows

MIN_LENGTH, _SHOWN = 12, 199
"""Minimum length of a text, since shorter ones occur in too many messages; and how much of a long text lists of
memories show.
"""
_HITS = (
    "SELECT c.id FROM content c WHERE c.text IS NOT NULL"
    " AND EXISTS (SELECT 1 FROM json_each(?) w WHERE instr(c.text, w.value))"
)
_HIT = "IN (SELECT value FROM json_each(:hits))"
_MESSAGES = f"""
    SELECT trace_id FROM inbox WHERE text {_HIT} OR body {_HIT}
    UNION SELECT trace_id FROM timeline WHERE content {_HIT}
    UNION SELECT trace_id FROM turns WHERE reply {_HIT} OR line {_HIT} OR question {_HIT}
    UNION SELECT trace_id FROM steps s JOIN turns t ON t.id = s.turn WHERE s.body {_HIT}
    UNION SELECT trace_id FROM transcript x JOIN turns t ON t.id = x.turn WHERE x.text {_HIT} OR x.extra {_HIT}
    UNION SELECT trace_id FROM outbox WHERE text {_HIT} OR extra {_HIT}
"""  # noqa: S608 - no value
_IMPORTED = (
    f"SELECT count(*) FROM transcript WHERE (text {_HIT} OR extra {_HIT})"  # noqa: S608 - no value
    " AND turn NOT IN (SELECT id FROM turns)"
)


@dataclass(frozen=True, slots=True)
class Quotes:
    """Traces of messages that contain a text, and the number of imported ones, which have none."""

    traces: frozenset[str]
    imported: int


def quotes_of(connection: apsw.Connection, texts: Iterable[str]) -> Quotes:
    """Find the messages that contain one of these texts verbatim. Reads all content."""
    needles = json.dumps(sorted({needle for text in texts for needle in _needles(text)}))
    hits = {"hits": json.dumps([row[0] for row in all_rows(connection, _HITS, (needles,))])}
    traces = frozenset(row[0] for row in all_rows(connection, _MESSAGES, hits))
    return Quotes(traces, all_rows(connection, _IMPORTED, hits)[0][0])


def _needles(text: str) -> Iterator[str]:
    """Return the forms in which a text appears in messages, lists of memories, tool results and tool arguments."""
    forms: Sequence[str] = [text[:_SHOWN].strip(), " ".join(text.split())[:_SHOWN]]
    for form in forms:
        if len(form) >= MIN_LENGTH:
            once = [form, *(json.dumps(form, ensure_ascii=each)[1:-1] for each in (True, False))]
            yield from once
            yield from (json.dumps(each, ensure_ascii=way)[1:-1] for each in once[1:] for way in (True, False))
