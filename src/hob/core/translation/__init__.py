"""Hob's messages by code, and the languages they are translated into."""
