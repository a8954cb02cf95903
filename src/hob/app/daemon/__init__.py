"""The daemon: running it, reaching it, and the one-shot owner that replaces it for one message."""
