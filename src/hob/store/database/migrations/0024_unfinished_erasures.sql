-- Turns that are erased here and whose files beside the database (what commands keep, what plug-ins keep) are still to be
-- forgotten: written with the tombstones, taken away when all of them are gone, and gone on with after the next start.
CREATE TABLE unfinished_erasures (
    turn  TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
