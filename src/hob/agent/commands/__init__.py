"""Slash commands: the table and their implementation."""
