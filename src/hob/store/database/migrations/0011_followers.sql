-- How far each follower of the timeline has come. Its effect and its place are written in one transaction.
CREATE TABLE followers (
    name   TEXT PRIMARY KEY,
    place  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events that a follower could not take: it went on behind them, and `hob doctor` names them.
CREATE TABLE follower_quarantine (
    follower  TEXT NOT NULL,
    place     INTEGER NOT NULL,
    at        REAL NOT NULL,
    reason    TEXT NOT NULL,
    PRIMARY KEY (follower, place)
) STRICT, WITHOUT ROWID;

-- The outgoing webhooks kept theirs among what channels remember.
INSERT INTO followers (name, place)
    SELECT 'webhooks', CAST(value AS INTEGER) FROM channel_state
    WHERE channel = 'webhook_out' AND account = '' AND key = 'cursor';
DELETE FROM channel_state WHERE channel = 'webhook_out' AND account = '' AND key = 'cursor';
