"""Forgetting: erasure, retention, what there is of a person."""
