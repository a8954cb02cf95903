"""Reading the web and searching it."""
