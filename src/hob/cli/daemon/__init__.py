"""Commands about the running daemon: serve, service, status, logs, doctor, tasks, timeline, usage."""
