"""Facts the owner states about themselves and their world, as subject, predicate and object."""
