"""Setting Hob up: what is there, what is wanted, and each step's outcome."""
