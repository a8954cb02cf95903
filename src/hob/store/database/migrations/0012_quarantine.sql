-- Whether a turn's quarantine is final. Unclean ends of the process prove little: the turn is tried once more by itself,
-- and what then ends the process again is `sure`. What was quarantined before this is left to `hob retry`.
ALTER TABLE turns ADD COLUMN sure INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET sure = 1 WHERE state = 'set_aside';
CREATE INDEX turns_doubtful ON turns (seq) WHERE state = 'set_aside' AND sure = 0 AND retried_by IS NULL;
