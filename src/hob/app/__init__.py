"""The composition root, the daemon, and Hob's features."""
