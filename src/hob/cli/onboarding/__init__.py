"""The steps of the setup, and their outcomes."""
