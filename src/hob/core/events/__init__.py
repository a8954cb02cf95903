"""What is told of what happened: timeline, notices, hooks, webhooks, log lines."""
