-- Work that a turn gave to another session: a sub-agent's task (`spawn`) or a message to a session (`send`). `id` is the
-- message it is, `turn` and `parent` wrote it, `root` pays for it, `origin` is the chat that a report is answered in (JSON).
-- `why` is how it was ended from outside, `taken` who has got its result; nobody gets it twice.
CREATE TABLE subagents (
    seq     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    kind    TEXT NOT NULL,
    turn    TEXT NOT NULL,
    parent  TEXT NOT NULL,
    root    TEXT NOT NULL,
    session TEXT NOT NULL,
    depth   INTEGER NOT NULL,
    name    TEXT NOT NULL,
    label   INTEGER REFERENCES content,
    origin  TEXT NOT NULL,
    cleanup TEXT NOT NULL,
    seconds REAL NOT NULL,
    created REAL NOT NULL,
    why     TEXT NOT NULL DEFAULT '',
    taken   TEXT,
    closed  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX subagents_session ON subagents (session);
CREATE INDEX subagents_root ON subagents (root, session);
CREATE INDEX subagents_parent ON subagents (parent);
CREATE INDEX subagents_open ON subagents (closed, seq) WHERE closed = 0;

-- Messages that Hob owes itself: written with what they belong to, accepted afterwards, once (`key`).
CREATE TABLE self_messages (
    key  TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    run  TEXT NOT NULL,
    body INTEGER NOT NULL REFERENCES content
) STRICT;

-- Results of calls that are given to a parked turn: what its sub-agents found, what a program's own tools gave.
CREATE TABLE late_results (
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    body INTEGER NOT NULL REFERENCES content,
    PRIMARY KEY (turn, call)
) STRICT;
