-- What each model call was given, for replaying it. A request is a list of parts (JSON: ids, in order); the same part is
-- stored once, deflated. A part of a session that was made for one turn (`turn`) is shared with no other and goes with it.
-- Any of it may repeat what was said elsewhere: whatever is erased, all of it goes.
CREATE TABLE request_parts (
    id    INTEGER PRIMARY KEY,
    hash  BLOB NOT NULL UNIQUE,
    turn  TEXT,
    used  REAL NOT NULL,
    body  BLOB NOT NULL
) STRICT;
CREATE INDEX request_parts_used ON request_parts (used);
CREATE INDEX request_parts_turn ON request_parts (turn) WHERE turn IS NOT NULL;
CREATE TABLE requests (
    turn   TEXT NOT NULL,
    n      INTEGER NOT NULL,
    at     REAL NOT NULL,
    parts  TEXT NOT NULL,
    PRIMARY KEY (turn, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_at ON requests (at);
