"""Ways to confine a command, and which of them work on this machine."""
