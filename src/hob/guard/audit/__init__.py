"""Entries of the audit log."""
