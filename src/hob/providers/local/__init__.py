"""Models that run on this machine without a server."""
