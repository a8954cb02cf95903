"""Changing files: whole or not at all, each change noted first."""
