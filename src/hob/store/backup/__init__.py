"""Backups, exports and other programs' databases."""
