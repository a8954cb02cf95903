"""Queues and delivery: incoming messages, one turn per session at a time, outgoing replies."""
