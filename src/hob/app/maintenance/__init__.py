"""Keeping a Hob that runs in order: its log, its backups, what is kept how long, alarms, figures, secrets."""
