-- The first schema. Times are Unix seconds (REAL, UTC) unless a column says otherwise; costs are micro-dollars.
-- Order is always the integer key, never a time.

-- What can be forgotten lies here and nowhere else: every other table points at it. `hash` is SHA-256 of salt and text.
-- Erasing sets `text` and `salt` to NULL and leaves the hash, which without the salt tells nothing about a short text.
CREATE TABLE content (
    id      INTEGER PRIMARY KEY,
    text    TEXT,
    salt    BLOB,
    hash    BLOB NOT NULL,
    erased  REAL
) STRICT;

-- What was erased and when; every rebuild, restore and export obeys it. A row of `content` is known by its id and hash
-- together (ids alone diverge after a restore); `content` 0 is a blob, known by the SHA-256 of its bytes;
-- it stays while anything else names it, and when it was put again later.
CREATE TABLE tombstones (
    content  INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    at       REAL NOT NULL,
    reason   TEXT NOT NULL,
    PRIMARY KEY (content, hash)
) STRICT, WITHOUT ROWID;

-- Facts, append-only (the triggers below refuse every change).
CREATE TABLE timeline (
    seq             INTEGER PRIMARY KEY,
    version         INTEGER NOT NULL,
    event_id        TEXT NOT NULL UNIQUE,
    trace_id        TEXT NOT NULL,
    span_id         TEXT NOT NULL,
    parent_span_id  TEXT,
    at              REAL NOT NULL,
    kind            TEXT NOT NULL,
    name            TEXT NOT NULL,
    status          TEXT NOT NULL,
    type            TEXT NOT NULL CHECK (type IN ('TEXT', 'AUDIO', 'IMAGE', 'SYSTEM')),
    session         TEXT,
    turn            TEXT,
    sender_id       TEXT NOT NULL,
    sender_name     TEXT NOT NULL,
    classification  TEXT NOT NULL,
    authorized      INTEGER NOT NULL,
    origin          TEXT,
    trust           TEXT,
    content         INTEGER REFERENCES content,
    media           TEXT,
    seconds         REAL,
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    cache_read      INTEGER,
    cache_write     INTEGER,
    reasoning       INTEGER,
    cost            INTEGER
) STRICT;
CREATE INDEX timeline_trace ON timeline (trace_id);
CREATE INDEX timeline_session ON timeline (session);
CREATE TRIGGER timeline_keeps BEFORE UPDATE ON timeline
    BEGIN SELECT RAISE(ABORT, 'the timeline is append-only'); END;
CREATE TRIGGER timeline_stays BEFORE DELETE ON timeline
    BEGIN SELECT RAISE(ABORT, 'the timeline is append-only'); END;

-- Every message key ever seen, as a hash, for ever (promise 5).
CREATE TABLE dedup (
    hash     BLOB PRIMARY KEY,
    inbound  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Accepted messages. `text` is what the sender wrote (the timeline points at the same row), `body` the rest of the
-- Inbound as JSON. `steered` ones joined a turn that was already running.
CREATE TABLE inbox (
    seq         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    version     INTEGER NOT NULL,
    session     TEXT NOT NULL,
    sender      TEXT NOT NULL,
    trace_id    TEXT NOT NULL,
    span_id     TEXT NOT NULL,
    state       TEXT NOT NULL,
    turn        TEXT,
    steered     INTEGER NOT NULL DEFAULT 0,
    command     INTEGER NOT NULL,            -- 0: a message, 1: a command that runs in order, 2: answered on arrival
    at          REAL NOT NULL,
    not_before  REAL NOT NULL,               -- debounce
    hops        INTEGER NOT NULL,
    ended       REAL,                        -- of what ended without a turn
    reason      TEXT NOT NULL DEFAULT '',
    text        INTEGER NOT NULL REFERENCES content,
    body        INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX inbox_waiting ON inbox (session) WHERE state = 'waiting';
CREATE INDEX inbox_sender ON inbox (sender) WHERE state = 'waiting';
CREATE INDEX inbox_turn ON inbox (turn);
CREATE INDEX inbox_self ON inbox (at) WHERE hops > 0;

-- `position` is the number of journalled steps; `crash_position` and `attempts` implement the attempt rule. A retried
-- turn stays as it ended and names its successor.
CREATE TABLE turns (
    seq             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    session         TEXT NOT NULL,
    trace_id        TEXT NOT NULL,
    span_id         TEXT NOT NULL,
    state           TEXT NOT NULL,
    run             INTEGER,                 -- the process run that has it in hand
    position        INTEGER NOT NULL DEFAULT 0,
    crash_position  INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0,
    waits_for       TEXT,
    wake_at         REAL,
    line            INTEGER REFERENCES content,
    created         REAL NOT NULL,
    ended           REAL,
    reason          TEXT NOT NULL DEFAULT '',
    kind            TEXT,                    -- of what was said: reply, error, ...
    reply           INTEGER REFERENCES content,
    retried_by      TEXT
) STRICT;
CREATE INDEX turns_open ON turns (session) WHERE state IN ('ready', 'running', 'parked');
CREATE INDEX turns_session ON turns (session);

-- The journal (promise 3). `hash` is the command hash of a tool intent.
CREATE TABLE steps (
    turn     TEXT NOT NULL,
    n        INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    hash     TEXT,
    at       REAL NOT NULL,
    body     INTEGER NOT NULL REFERENCES content,
    PRIMARY KEY (turn, n)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER steps_keep BEFORE UPDATE ON steps
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER steps_stay BEFORE DELETE ON steps
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- One row per chunk, sent in order.
CREATE TABLE outbox (
    seq       INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    turn      TEXT,
    trace_id  TEXT NOT NULL,
    channel   TEXT NOT NULL,
    account   TEXT NOT NULL,
    chat      TEXT NOT NULL,
    thread    TEXT NOT NULL,
    chunk     INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    previews  INTEGER NOT NULL,
    state     TEXT NOT NULL,
    attempts  INTEGER NOT NULL DEFAULT 0,
    repeats   INTEGER NOT NULL DEFAULT 0,    -- sends after a crash, where the first may have arrived
    next_at   REAL NOT NULL,
    reason    TEXT NOT NULL DEFAULT '',
    receipt   TEXT NOT NULL DEFAULT '',
    created   REAL NOT NULL,
    ended     REAL,
    text      INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX outbox_open ON outbox (channel, account, chat, thread, seq) WHERE state IN ('ready', 'sending');
CREATE INDEX outbox_stuck ON outbox (state) WHERE state IN ('dead', 'parked');
CREATE INDEX outbox_turn ON outbox (turn);

CREATE TABLE tasks (
    seq      INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    inbound  TEXT,
    turn     TEXT,
    session  TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    state    TEXT NOT NULL,
    title    INTEGER REFERENCES content,
    reason   TEXT NOT NULL DEFAULT '',
    created  REAL NOT NULL,
    updated  REAL NOT NULL
) STRICT;
CREATE INDEX tasks_open ON tasks (seq) WHERE state IN ('pending', 'running', 'waiting');
CREATE INDEX tasks_turn ON tasks (turn);

-- `since` is the transcript place after which the session shows (raised by a reset), `entries` the last place given.
CREATE TABLE sessions (
    key       TEXT PRIMARY KEY,
    chat      TEXT NOT NULL,
    title     INTEGER REFERENCES content,
    model     TEXT,
    mode      TEXT,
    paused    INTEGER NOT NULL DEFAULT 0,
    archived  INTEGER NOT NULL DEFAULT 0,
    entries   INTEGER NOT NULL DEFAULT 0,
    since     INTEGER NOT NULL DEFAULT 0,
    created   REAL NOT NULL,
    updated   REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_chat ON sessions (chat);

-- Which session a chat's messages go to, where somebody switched it.
CREATE TABLE chats (
    chat     TEXT PRIMARY KEY,
    session  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `hidden` entries were taken back by /undo or erased; nothing is deleted.
CREATE TABLE transcript (
    session   TEXT NOT NULL,
    n         INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    role      TEXT NOT NULL,
    turn      TEXT NOT NULL,
    at        REAL NOT NULL,
    origin    TEXT NOT NULL,
    trust     TEXT NOT NULL,
    hidden    INTEGER NOT NULL DEFAULT 0,
    text      INTEGER NOT NULL REFERENCES content,
    extra     INTEGER REFERENCES content,    -- calls, call id, error flag, images as JSON
    PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX transcript_hidden ON transcript (session, n) WHERE hidden = 1;

CREATE TABLE summaries (
    id       INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    upto     INTEGER NOT NULL,
    origin   TEXT NOT NULL,
    trust    TEXT NOT NULL,
    model    TEXT NOT NULL,
    at       REAL NOT NULL,
    undone   REAL,
    text     INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX summaries_session ON summaries (session) WHERE undone IS NULL;

CREATE TABLE settings (
    key      TEXT PRIMARY KEY,
    value    TEXT NOT NULL,
    updated  REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_state (
    channel  TEXT NOT NULL,
    account  TEXT NOT NULL,
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (channel, account, key)
) STRICT, WITHOUT ROWID;

-- One row per model call. `reserved` counts until settled; `cost` NULL after settling means that it is unknown.
CREATE TABLE usage (
    id             INTEGER PRIMARY KEY,
    turn           TEXT,
    session        TEXT NOT NULL,
    model          TEXT NOT NULL,
    at             REAL NOT NULL,
    reserved       INTEGER,
    settled        INTEGER NOT NULL DEFAULT 0,
    input_tokens   INTEGER NOT NULL DEFAULT 0,
    output_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_read     INTEGER NOT NULL DEFAULT 0,
    cache_write    INTEGER NOT NULL DEFAULT 0,
    reasoning      INTEGER NOT NULL DEFAULT 0,
    cost           INTEGER
) STRICT;
CREATE INDEX usage_settled ON usage (at) WHERE settled = 1;
CREATE INDEX usage_open ON usage (at) WHERE settled = 0;
CREATE INDEX usage_turn ON usage (turn);

-- The sums of the settled calls of each hour (Unix time / 3600), so that asking for a month costs no walk through it.
CREATE TABLE spending (
    hour           INTEGER NOT NULL,
    session        TEXT NOT NULL,
    model          TEXT NOT NULL,
    cost           INTEGER NOT NULL,
    unknown        INTEGER NOT NULL,
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write    INTEGER NOT NULL,
    reasoning      INTEGER NOT NULL,
    calls          INTEGER NOT NULL,
    PRIMARY KEY (hour, session, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_session ON spending (session);

CREATE TABLE approvals (
    seq      INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    turn     TEXT NOT NULL,
    call     TEXT NOT NULL,
    tool     TEXT NOT NULL,
    hash     TEXT NOT NULL,                  -- command hash: tool and exact arguments
    session  TEXT NOT NULL,
    state    TEXT NOT NULL,
    reason   TEXT NOT NULL,
    asked    REAL NOT NULL,
    expires  REAL NOT NULL,
    answered REAL,
    answered_by TEXT NOT NULL DEFAULT '',
    shown    INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX approvals_open ON approvals (session) WHERE state = 'open';
CREATE INDEX approvals_turn ON approvals (turn);

CREATE TABLE policy_decisions (
    seq      INTEGER PRIMARY KEY,
    turn     TEXT NOT NULL,
    call     TEXT NOT NULL,
    tool     TEXT NOT NULL,
    hash     TEXT NOT NULL,
    verdict  TEXT NOT NULL,
    rule     TEXT NOT NULL,
    reason   TEXT NOT NULL,
    at       REAL NOT NULL
) STRICT;
CREATE INDEX policy_decisions_turn ON policy_decisions (turn);

CREATE TABLE blobs (
    id          TEXT PRIMARY KEY,            -- SHA-256 of the bytes
    media_type  TEXT NOT NULL,
    size        INTEGER NOT NULL,
    at          REAL NOT NULL,
    erased      REAL
) STRICT, WITHOUT ROWID;

-- One row per process run; a run without `ended` ended uncleanly.
CREATE TABLE runs (
    id       INTEGER PRIMARY KEY,
    pid      INTEGER NOT NULL,
    version  TEXT NOT NULL,
    began    REAL NOT NULL,
    ended    REAL
) STRICT;
