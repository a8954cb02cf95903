"""Declaring tools and offering them: schemas, groups, the default set."""
