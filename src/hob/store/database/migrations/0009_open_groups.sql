-- Files that earlier releases kept beside the database and whose lines are rows now, by the SHA-256 of their bytes: none
-- is imported twice, whenever Hob is killed.
CREATE TABLE imported_files (
    hash  BLOB PRIMARY KEY,
    name  TEXT NOT NULL,
    at    REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The groups of tools that each session has opened, in that order.
CREATE TABLE open_groups (
    seq      INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    name     TEXT NOT NULL,
    UNIQUE (session, name)
) STRICT;
