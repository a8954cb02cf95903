-- Each file that a call changed or was about to change: `body` is JSON of the change (call, path, hashes and permission bits
-- before and after, folders made for it), `blob` holds the bytes that it replaced. `at` is the wall time in nanoseconds.
CREATE TABLE file_changes (
    seq   INTEGER PRIMARY KEY,
    turn  TEXT NOT NULL,
    at    INTEGER NOT NULL,
    blob  TEXT,
    body  INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX file_changes_turn ON file_changes (turn);
CREATE INDEX file_changes_at ON file_changes (at);
CREATE INDEX file_changes_blob ON file_changes (blob, body) WHERE blob IS NOT NULL;
