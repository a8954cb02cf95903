"""Snapshots of folders before and after a command, and restoring what it changed."""
