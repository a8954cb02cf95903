-- Which messages still say what was forgotten, so that its owner can have them erased too when it has no text any more.
CREATE TABLE forgotten_items (
    id      TEXT PRIMARY KEY,
    scope   TEXT NOT NULL,
    agent   TEXT NOT NULL,
    traces  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
