"""Canvas pages shown to the user."""
