-- A vector is large: in a table without row numbers the inner pages hold vectors too, and each look-up reads seven pages.
CREATE TABLE memory_vectors_by_row (
    seq       INTEGER NOT NULL,
    embedder  INTEGER NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (seq, embedder)
) STRICT;
INSERT INTO memory_vectors_by_row SELECT seq, embedder, vector FROM memory_vectors ORDER BY seq, embedder;
DROP TABLE memory_vectors;
ALTER TABLE memory_vectors_by_row RENAME TO memory_vectors;
