-- By which words memories are found. Every key begins with whose they are, so that a search reads nothing of others.
CREATE TABLE memory_scopes (
    id        INTEGER PRIMARY KEY,
    person    TEXT NOT NULL,
    agent     TEXT NOT NULL,
    items     INTEGER NOT NULL DEFAULT 0,
    words     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (person, agent)
) STRICT;

CREATE TABLE memory_sessions (
    id        INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL,
    name      TEXT NOT NULL,
    items     INTEGER NOT NULL DEFAULT 0,
    words     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, name)
) STRICT;

-- The items that hold a stem, 1,024 neighbouring rows to a block: 32 bits each, of which 10 are the row in the block,
-- 6 how often it occurs, 16 how many words the item has.
CREATE TABLE memory_postings (
    scope     INTEGER NOT NULL,
    term      TEXT NOT NULL,
    block     INTEGER NOT NULL,
    postings  BLOB NOT NULL,
    PRIMARY KEY (scope, term, block)
) STRICT, WITHOUT ROWID;

-- What was indexed of each item, by which it can be taken out when its text is erased; and its neighbours.
CREATE TABLE memory_words (
    seq       INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL,
    session   INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    stems     TEXT NOT NULL
) STRICT;
CREATE INDEX memory_words_session ON memory_words (session, seq);
