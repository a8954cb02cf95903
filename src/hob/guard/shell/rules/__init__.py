"""What makes a command dangerous, by kinds of harm."""
