"""Who said something, and whether it may be followed."""
