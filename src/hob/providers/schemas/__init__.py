"""Tools as each provider takes them: their schemas, and names that every provider accepts."""
