-- Retention looks up the messages of sessions that were made for one turn; without an index each reads all messages. An
-- index of all sessions would be taken in the place of `inbox_waiting`, which is shorter.
CREATE INDEX inbox_once ON inbox (session) WHERE session GLOB 'once:*';
