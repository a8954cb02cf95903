"""Prompts: what the model is told, and in which order."""
