-- What the owner wants to reach: each goal has an item that is searched (`seq`), what came of it are items whose evidence
-- it is. `state` is open, done or dropped; `due` and `changed` are Unix seconds.
CREATE TABLE memory_goals (
    seq      INTEGER PRIMARY KEY,
    scope    TEXT NOT NULL,
    agent    TEXT NOT NULL,
    state    TEXT NOT NULL,
    due      REAL,
    changed  REAL NOT NULL
) STRICT;
CREATE INDEX memory_goals_scope ON memory_goals (scope, agent, state);
