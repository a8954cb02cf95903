"""Turns: their rows, the journal of their steps, what models were given in them, and results that come later."""
