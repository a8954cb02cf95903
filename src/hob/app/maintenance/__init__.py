"""Maintenance: backups, retention, erasing, metrics."""
