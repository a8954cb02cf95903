"""Prompts: their contents and the order of their parts."""
