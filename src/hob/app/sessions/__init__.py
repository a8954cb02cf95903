"""Sessions for their owner: list, rename, hold, delete and fork."""
