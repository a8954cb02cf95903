"""Unprompted messages: to the owner, to webhooks, and the outbox alarm."""
