-- What features keep that have no tables of their own, plug-ins above all. Whose a row is (turn, session, person) and how
-- long it is wanted stand beside it, so that erasing and retention reach it while the plug-in is off or gone.
CREATE TABLE plugin_records (
    plugin   TEXT NOT NULL,
    key      TEXT NOT NULL,
    at       REAL NOT NULL,
    turn     TEXT,
    session  TEXT,
    person   TEXT,
    expires  REAL,
    value    INTEGER NOT NULL REFERENCES content,
    PRIMARY KEY (plugin, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX plugin_records_turn ON plugin_records (turn) WHERE turn IS NOT NULL;
CREATE INDEX plugin_records_session ON plugin_records (session) WHERE session IS NOT NULL;
CREATE INDEX plugin_records_person ON plugin_records (person) WHERE person IS NOT NULL;
CREATE INDEX plugin_records_expires ON plugin_records (expires) WHERE expires IS NOT NULL;
