-- How long a session's model is to think, as its people chose; NULL: as configured.
ALTER TABLE sessions ADD COLUMN thinking TEXT;
