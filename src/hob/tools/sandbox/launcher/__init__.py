"""The start of confined commands, and control over everything they start."""
