-- What a search needs to know of an item stands in one row, so that a candidate costs one look-up, not two.
CREATE TABLE memory_known (
    seq         INTEGER PRIMARY KEY,
    scope       INTEGER NOT NULL,
    session     INTEGER NOT NULL,
    length      INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    speaker     TEXT NOT NULL,
    role        TEXT NOT NULL,
    layer       TEXT NOT NULL,
    sort        TEXT NOT NULL,
    at          REAL NOT NULL,
    importance  REAL NOT NULL,
    stems       TEXT NOT NULL
) STRICT;
INSERT INTO memory_known
    SELECT w.seq, w.scope, w.session, w.length, w.kind, i.speaker, i.role, i.layer, i.kind, i.at, i.importance, w.stems
    FROM memory_words w JOIN memory_items i ON i.seq = w.seq ORDER BY w.seq;
DROP TABLE memory_words;
ALTER TABLE memory_known RENAME TO memory_words;
CREATE INDEX memory_words_session ON memory_words (session, seq);

-- How many sessions a scope has and how many words they hold is kept, not counted for each search.
ALTER TABLE memory_scopes ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_scopes ADD COLUMN session_words INTEGER NOT NULL DEFAULT 0;
UPDATE memory_scopes SET (sessions, session_words) =
    (SELECT count(*), coalesce(sum(s.words), 0) FROM memory_sessions s WHERE s.scope = memory_scopes.id);
CREATE TRIGGER memory_sessions_begin AFTER INSERT ON memory_sessions BEGIN
    UPDATE memory_scopes SET sessions = sessions + 1, session_words = session_words + NEW.words WHERE id = NEW.scope;
END;
CREATE TRIGGER memory_sessions_grow AFTER UPDATE OF words ON memory_sessions BEGIN
    UPDATE memory_scopes SET session_words = session_words + NEW.words - OLD.words WHERE id = NEW.scope;
END;
CREATE TRIGGER memory_sessions_end AFTER DELETE ON memory_sessions BEGIN
    UPDATE memory_scopes SET sessions = sessions - 1, session_words = session_words - OLD.words WHERE id = OLD.scope;
END;
