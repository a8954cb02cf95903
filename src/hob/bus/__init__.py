"""Queues and delivery: messages in, one turn per session at a time, replies out."""
