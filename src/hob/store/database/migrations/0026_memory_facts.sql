-- What is known as facts: subject, predicate, object, each with an item that is searched (`seq`). Times are Unix seconds,
-- NULL where it is not known or goes on: `valid_` when it is so in the world, `recorded_` when Hob held it to be so.
-- A fact that no longer holds is closed, never deleted. `change` is what recorded it, `closed` what closed its record.
CREATE TABLE memory_facts (
    seq            INTEGER PRIMARY KEY,
    scope          TEXT NOT NULL,
    agent          TEXT NOT NULL,
    subject        TEXT NOT NULL,
    predicate      TEXT NOT NULL,
    object         TEXT NOT NULL,
    valid_from     REAL,
    valid_to       REAL,
    recorded_from  REAL NOT NULL,
    recorded_to    REAL,
    confidence     REAL NOT NULL,
    state          TEXT NOT NULL,
    change         TEXT NOT NULL,
    closed         TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX memory_facts_scope ON memory_facts (scope, agent, recorded_to);
CREATE INDEX memory_facts_change ON memory_facts (change);
CREATE INDEX memory_facts_closed ON memory_facts (closed) WHERE closed != '';

-- Of which items an item was made: what is forgotten takes it along.
CREATE TABLE memory_evidence (
    source  TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (source, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_evidence_seq ON memory_evidence (seq);
INSERT OR IGNORE INTO memory_evidence (source, seq)
    SELECT e.value, i.seq FROM memory_items i, json_each(i.evidence) e WHERE i.layer IN ('fact', 'observation');

-- How far work in the background has come, by its name and what it is about.
CREATE TABLE memory_work (
    name   TEXT NOT NULL,
    about  TEXT NOT NULL,
    place  INTEGER NOT NULL,
    PRIMARY KEY (name, about)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_items_superseded ON memory_items (superseded_by) WHERE superseded_by != '';
