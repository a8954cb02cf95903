"""Messages in and out, and what was said."""
