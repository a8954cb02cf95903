"""Sandboxed commands: backends, limits, a filtered network, running processes."""
