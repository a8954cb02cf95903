"""Facts that owners state about themselves and their world, as subject, predicate and object."""
