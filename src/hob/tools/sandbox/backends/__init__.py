"""Ways to confine a command, and detection of those that work on this machine."""
