-- `steer` is the newest message that corrected the run. Its turn, if it came too late for the run's own, is the run's.
ALTER TABLE subagents ADD COLUMN steer TEXT;
