-- What a parked turn asks people; the line beside it is in Hob's own words.
ALTER TABLE turns ADD COLUMN question INTEGER REFERENCES content;
-- What a session permits, and how much it does without asking; NULL is as configured.
ALTER TABLE sessions ADD COLUMN permission TEXT;
ALTER TABLE sessions ADD COLUMN autonomy TEXT;
