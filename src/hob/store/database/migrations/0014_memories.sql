-- What Hob remembers. `session` is under which it is kept, `place` and `turn` the session and the turn that it comes from.
-- `stone` is by which a copy of it is known again when it has been erased (a tombstone of `content` -1): the SHA-256 of
-- turn and time, since earlier releases kept it in files and no id of ours outlives those.
CREATE TABLE memories (
    seq      INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    place    TEXT NOT NULL,
    turn     TEXT NOT NULL,
    at       REAL NOT NULL,
    stone    BLOB NOT NULL,
    origin   TEXT NOT NULL,
    trust    TEXT NOT NULL,
    text     INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX memories_session ON memories (session);
CREATE INDEX memories_place ON memories (place);
CREATE INDEX memories_turn ON memories (turn);
CREATE INDEX memories_stone ON memories (stone);

-- What each session is at: one short text that its turns hand on to each other.
CREATE TABLE working_notes (
    session  TEXT PRIMARY KEY,
    turn     TEXT NOT NULL,
    at       REAL NOT NULL,
    stone    BLOB NOT NULL,
    origin   TEXT NOT NULL,
    trust    TEXT NOT NULL,
    text     INTEGER NOT NULL REFERENCES content
) STRICT, WITHOUT ROWID;
CREATE INDEX working_notes_turn ON working_notes (turn);
CREATE INDEX working_notes_stone ON working_notes (stone);
