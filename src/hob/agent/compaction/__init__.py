"""Letting a summary stand for older messages."""
