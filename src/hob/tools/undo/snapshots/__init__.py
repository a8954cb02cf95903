"""Taking note of a folder's files before and after a command, and putting back what it changed."""
