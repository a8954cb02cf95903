"""Who wrote something, and whether Hob may follow it."""
