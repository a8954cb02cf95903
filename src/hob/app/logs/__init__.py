"""The log of a running Hob."""
