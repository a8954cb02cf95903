"""The daemon: running it, reaching it, and standing in for it for one message."""
