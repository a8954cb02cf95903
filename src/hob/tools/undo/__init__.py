"""Undo of what turns changed in files."""
