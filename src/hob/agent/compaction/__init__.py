"""Summaries that replace older messages."""
