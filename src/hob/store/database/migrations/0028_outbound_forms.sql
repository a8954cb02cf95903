-- What a message has beyond its text (files, buttons, what it answers or edits), as JSON; NULL for a text alone, as all
-- rows of earlier releases are.
ALTER TABLE outbox ADD COLUMN extra INTEGER REFERENCES content;
