-- What a question is bound to besides its call: who wants it done, and as JSON the directory and the files whose hashes
-- may not change. `remaining` are the seconds of running time for which it still stands, as last noted; the times beside
-- it are for people. `scope` is how far a leave reaches, `note` why it is void.
ALTER TABLE approvals ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN requester TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN bound INTEGER REFERENCES content;
ALTER TABLE approvals ADD COLUMN remaining REAL;
ALTER TABLE approvals ADD COLUMN scope TEXT NOT NULL DEFAULT 'once';
ALTER TABLE approvals ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE INDEX approvals_allowed ON approvals (session) WHERE state = 'allowed';

-- Leave given for more than one use, for exactly the same call. `session` is NULL where it holds everywhere.
CREATE TABLE grants (
    seq        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,         -- that of the question it answered
    session    TEXT,
    tool       TEXT NOT NULL,
    hash       TEXT NOT NULL,                -- command hash: tool and exact arguments
    requester  TEXT NOT NULL,
    bound      INTEGER REFERENCES content,
    given      REAL NOT NULL,
    given_by   TEXT NOT NULL,
    revoked    REAL
) STRICT;
CREATE INDEX grants_hash ON grants (hash) WHERE revoked IS NULL;
