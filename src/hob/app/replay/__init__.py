"""Replaying a turn: what models were given, word for word, and what another one makes of it."""
