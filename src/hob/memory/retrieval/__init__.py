"""Retrieval: from a question to the items that help with it."""
