-- What a question consists of, as JSON: commands show it in the reader's language and colour its difference without
-- reading the text in `shown`. NULL for questions of an older Hob.
ALTER TABLE approvals ADD COLUMN question INTEGER REFERENCES content;
