"""Undo of changes that turns made to files."""
