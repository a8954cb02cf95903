-- What memories mean, as vectors: the sign of each number to find the nearest, and the numbers (16-bit floats) to compare
-- those exactly. An embedder is a provider, a model, a dimension and whether it normalises; `place` is the newest row that
-- it has embedded, so that a changed one begins anew while the old one's vectors still serve.
CREATE TABLE memory_embedders (
    id           INTEGER PRIMARY KEY,
    fingerprint  TEXT NOT NULL UNIQUE,
    place        INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE memory_bits (
    embedder  INTEGER NOT NULL,
    scope     INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    bits      BLOB NOT NULL,
    PRIMARY KEY (embedder, scope, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_vectors (
    seq       INTEGER NOT NULL,
    embedder  INTEGER NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (seq, embedder)
) STRICT, WITHOUT ROWID;

ALTER TABLE memory_scopes ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

-- Who speaks in a memory: names are left out of what is compared by meaning.
CREATE INDEX memory_items_speaker ON memory_items (scope, agent, speaker);
