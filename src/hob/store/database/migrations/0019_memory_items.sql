-- What Hob remembers: what was said, written or found, and what was made of it. `scope` is whose it is, `session` and
-- `turn` where it comes from, `position` its place there. `seq` is the key of every index and is never given twice.
-- `stone` is by which a copy of it is known again when it has been forgotten (a tombstone of `content` -1).
CREATE TABLE memory_items (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    scope          TEXT NOT NULL,
    agent          TEXT NOT NULL DEFAULT '',
    layer          TEXT NOT NULL,
    source         TEXT NOT NULL,
    session        TEXT NOT NULL DEFAULT '',
    position       INTEGER NOT NULL DEFAULT 0,
    turn           TEXT NOT NULL DEFAULT '',
    speaker        TEXT NOT NULL DEFAULT '',
    role           TEXT NOT NULL DEFAULT '',
    kind           TEXT NOT NULL DEFAULT '',
    at             REAL NOT NULL,
    origin         TEXT NOT NULL,
    trust          TEXT NOT NULL,
    valid_from     REAL,
    valid_to       REAL,
    superseded_by  TEXT NOT NULL DEFAULT '',
    evidence       TEXT NOT NULL DEFAULT '[]',
    importance     REAL NOT NULL DEFAULT 0.5,
    expires_at     REAL,
    stone          BLOB NOT NULL,
    text           INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX memory_items_scope ON memory_items (scope, layer);
CREATE INDEX memory_items_session ON memory_items (session, position);
CREATE INDEX memory_items_turn ON memory_items (turn);
CREATE INDEX memory_items_source ON memory_items (source);
CREATE INDEX memory_items_expires ON memory_items (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memory_items_stone ON memory_items (stone);
CREATE INDEX memory_items_text ON memory_items (text);

INSERT INTO memory_items (id, scope, layer, source, session, turn, role, kind, at, origin, trust, stone, text)
    SELECT substr(lower(hex(stone)), 1, 32), session, 'fact', 'fact:remember', place, turn, 'assistant', 'note', at,
        origin, trust, stone, text FROM memories ORDER BY seq;
DROP TABLE memories;
