"""What tools keep: changes and commands to undo, memories and notes, open groups."""
