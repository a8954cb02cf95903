-- Which turns were undone and for whom: a row is there before the first file is put back, so that an undoing that was cut
-- short is finished. `seq` is the order in which they ended, or else began. Both texts are JSON with paths; without an
-- outcome it was begun and not ended.
CREATE TABLE undo_log (
    seq      INTEGER PRIMARY KEY,
    asker    TEXT NOT NULL UNIQUE,
    turn     TEXT NOT NULL,
    planned  INTEGER NOT NULL REFERENCES content,
    outcome  INTEGER REFERENCES content
) STRICT;
CREATE INDEX undo_log_turn ON undo_log (turn);
CREATE INDEX undo_log_begun ON undo_log (seq) WHERE outcome IS NULL;
