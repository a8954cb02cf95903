"""Model calls and their cost."""
