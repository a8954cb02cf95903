"""Running commands where they can do no harm: backends, limits, a filtered network, and undoing what they changed."""
