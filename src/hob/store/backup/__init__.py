"""Backups, exports and databases of other programs."""
