"""Models as the owner sees them: the catalog, probing one, what they cost."""
