-- What was looked up by walking through the whole table: what a turn said (retention), old files, a kind of audit entries,
-- the sessions that are listed, and what was sent since a question.
CREATE INDEX transcript_turn ON transcript (turn);
CREATE INDEX blobs_old ON blobs (at) WHERE erased IS NULL;
CREATE INDEX audit_kind ON audit (kind);
CREATE INDEX sessions_listed ON sessions (archived, updated) WHERE key NOT GLOB 'once:*';
CREATE INDEX outbox_created ON outbox (created);
