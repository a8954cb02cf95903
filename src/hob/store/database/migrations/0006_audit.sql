-- Who was let in, allowed, refused and slowed down: append-only, each row's hash over the one before it. The row holds no
-- text of anybody; what the entry is about lies in `content`, and `sealed` is its salted hash, which stays when it is erased.
-- The head (count and last hash) is kept in a file beside the database.
CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY,
    at        REAL NOT NULL,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    outcome   TEXT NOT NULL,
    rule      TEXT NOT NULL,
    sender    TEXT NOT NULL,                 -- the class: owner, member, stranger, or hob
    turn      TEXT NOT NULL,
    trace_id  TEXT NOT NULL,
    detail    INTEGER NOT NULL REFERENCES content,
    sealed    BLOB NOT NULL,
    previous  BLOB NOT NULL,
    hash      BLOB NOT NULL
) STRICT;
CREATE INDEX audit_turn ON audit (turn) WHERE turn <> '';
CREATE INDEX audit_trace ON audit (trace_id) WHERE trace_id <> '';
CREATE TRIGGER audit_keeps BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
