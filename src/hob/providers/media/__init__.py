"""Vectors, hearing, speaking and seeing."""
