"""Incoming and outgoing messages, and transcripts."""
