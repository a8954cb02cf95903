-- Whose message it is, as admission classed its sender: what a turn costs counts for the least known of its senders.
-- All that is older than these columns was the owner's.
ALTER TABLE inbox ADD COLUMN sender_class TEXT NOT NULL DEFAULT 'owner';

-- `chain` holds, while a call is open, the models that may answer it, one a line, where they are several.
ALTER TABLE usage ADD COLUMN sender TEXT NOT NULL DEFAULT 'owner';
ALTER TABLE usage ADD COLUMN task TEXT NOT NULL DEFAULT 'chat';
ALTER TABLE usage ADD COLUMN chain TEXT NOT NULL DEFAULT '';
UPDATE usage SET task = 'summary' WHERE turn IS NULL;

-- What was turned away before anything was done is no call, neither a free one nor one of unknown cost.
DELETE FROM usage WHERE turn IS NOT NULL AND settled = 1 AND cost = 0 AND input_tokens = 0 AND output_tokens = 0;
DELETE FROM usage WHERE turn IS NULL AND cost IS NULL AND (at, model) IN (
    SELECT at, name FROM timeline WHERE kind = 'model' AND turn IS NULL AND input_tokens IS NULL
        AND status NOT IN ('ok', 'cut', 'timeout', 'garbage', 'empty', 'filtered'));

-- The sums again, by sender and task too.
DROP TABLE spending;
CREATE TABLE spending (
    hour           INTEGER NOT NULL,
    session        TEXT NOT NULL,
    model          TEXT NOT NULL,
    sender         TEXT NOT NULL,
    task           TEXT NOT NULL,
    cost           INTEGER NOT NULL,
    unknown        INTEGER NOT NULL,
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write    INTEGER NOT NULL,
    reasoning      INTEGER NOT NULL,
    calls          INTEGER NOT NULL,
    PRIMARY KEY (hour, session, model, sender, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_session ON spending (session);
INSERT INTO spending
    SELECT CAST(at / 3600 AS INTEGER), session, model, sender, task, sum(coalesce(cost, 0)), sum(cost IS NULL),
        sum(input_tokens), sum(output_tokens), sum(cache_read), sum(cache_write), sum(reasoning), count(*)
    FROM usage WHERE settled = 1 GROUP BY 1, 2, 3, 4, 5;

-- What was told once and is not told again for the time that began then: a limit that is nearly reached.
CREATE TABLE noted (
    what   TEXT NOT NULL,
    since  REAL NOT NULL,
    PRIMARY KEY (what, since)
) STRICT, WITHOUT ROWID;
