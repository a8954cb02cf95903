"""Facts: what the owner says of themselves and their world, as subject, predicate and object."""
