"""Slash commands: the table and what each does."""
