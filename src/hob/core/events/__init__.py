"""Events: timeline, notices, hooks, webhooks, log lines."""
