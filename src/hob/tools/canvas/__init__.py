"""Pages that the user is shown."""
