"""Admission of messages: people and their addresses, chat policies, pairing, limits, allowed contents. No I/O."""
