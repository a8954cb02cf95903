"""Commands about what Hob did: timeline, tasks, usage, logs."""
