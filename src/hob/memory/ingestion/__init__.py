"""Turning messages, files and documents into items."""
