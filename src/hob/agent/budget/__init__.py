"""Money: limits, what is held back, what was spent."""
