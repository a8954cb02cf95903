"""File tools within the roots: find, list, search, read."""
