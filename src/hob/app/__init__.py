"""Joining all parts: the composition root, the daemon, Hob's features."""
