"""Declaration of tools and their registry: schemas, groups, the built-in set."""
