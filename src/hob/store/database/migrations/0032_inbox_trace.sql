-- The timeline shows the files of the messages on it.
CREATE INDEX inbox_trace ON inbox (trace_id);
