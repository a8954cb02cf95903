"""Maintenance: backups, retention, erasure, metrics."""
