"""Turns: rows, journals, model requests, and late results."""
