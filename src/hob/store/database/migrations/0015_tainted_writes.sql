-- The turns that may have written what others wanted, until the owner has been told of it.
CREATE TABLE tainted_writes (
    seq   INTEGER PRIMARY KEY,
    turn  TEXT NOT NULL UNIQUE
) STRICT;
