-- How well each kind of tool works for Hob: how often it did and did not, and the outcomes of the last fifty calls, the
-- newest last (1: it worked). It is counted from the timeline, and can be counted again.
CREATE TABLE expertise (
    skill      TEXT PRIMARY KEY,
    successes  INTEGER NOT NULL,
    failures   INTEGER NOT NULL,
    seconds    REAL NOT NULL,
    last_used  REAL NOT NULL,
    recent     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
