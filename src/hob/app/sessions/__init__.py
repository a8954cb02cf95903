"""Conversations for their owner: looked at, named, held, deleted, and gone on with in a copy."""
