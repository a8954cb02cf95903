"""Anthropic Messages, also used by compatible servers."""
