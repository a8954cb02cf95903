"""Keeping a Hob that runs in order: daily backups, what is kept how long, erasing a person, figures."""
