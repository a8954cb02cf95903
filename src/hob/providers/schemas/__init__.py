"""Tools for each provider: their schemas, and names that every provider accepts."""
