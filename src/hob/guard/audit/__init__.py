"""The audit log's entries and the security audit."""
