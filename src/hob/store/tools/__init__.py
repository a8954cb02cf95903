"""Data of tools: changes and commands to undo, open groups."""
