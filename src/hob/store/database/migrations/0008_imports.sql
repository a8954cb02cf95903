-- What was taken over from other assistants, by the place of each message there, so that nothing is taken over twice.
-- A key is made of ids and times, never of texts: it outlives what it stands for.
CREATE TABLE imports (
    session  TEXT NOT NULL,
    key      BLOB NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;
