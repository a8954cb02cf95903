"""The API for machines: it authenticates, translates and calls."""
