-- What was remembered of a day is found by its time.
CREATE INDEX memory_words_at ON memory_words (scope, at);
