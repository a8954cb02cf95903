"""Canvas pages that the user is shown."""
