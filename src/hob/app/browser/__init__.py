"""The browser of a home, and the command by which the owner takes it over."""
