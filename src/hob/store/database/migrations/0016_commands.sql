-- Commands, each noted before it begins, with the folders that it may change (a JSON list of paths). `outcome` is empty
-- while it runs, `process` names one that runs in the background.
CREATE TABLE commands (
    seq      INTEGER PRIMARY KEY,
    turn     TEXT NOT NULL,
    call     TEXT NOT NULL,
    session  TEXT NOT NULL,
    process  TEXT NOT NULL,
    trees    TEXT NOT NULL,
    outcome  TEXT NOT NULL DEFAULT '',
    text     INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX commands_turn ON commands (turn, call);
CREATE INDEX commands_process ON commands (process) WHERE process <> '';
CREATE INDEX commands_running ON commands (seq) WHERE outcome = '';

-- The snapshots of a folder between which a command changed something: JSON of the folder, the one before, the one after.
-- `at` is the wall time of the later one, in nanoseconds.
CREATE TABLE command_changes (
    seq   INTEGER PRIMARY KEY,
    turn  TEXT NOT NULL,
    at    INTEGER NOT NULL,
    body  INTEGER NOT NULL REFERENCES content
) STRICT;
CREATE INDEX command_changes_turn ON command_changes (turn);
CREATE INDEX command_changes_at ON command_changes (at);

-- The latest snapshot of each folder that a command could change.
CREATE TABLE tree_snapshots (
    tree      TEXT PRIMARY KEY,
    snapshot  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
