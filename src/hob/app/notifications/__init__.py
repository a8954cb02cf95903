"""What Hob tells without being asked: the owner, webhooks, the outbox alarm."""
