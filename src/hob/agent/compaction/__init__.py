"""Replacing older messages by a summary."""
