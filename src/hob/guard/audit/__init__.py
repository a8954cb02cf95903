"""The entries of the audit log."""
