-- Tasks in one state are looked for, as those that failed, without a walk through all.
CREATE INDEX tasks_state ON tasks (state, seq);
