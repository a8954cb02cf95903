"""The owner's session operations: list, rename, hold, delete and fork."""
