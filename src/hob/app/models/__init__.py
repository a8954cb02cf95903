"""Models for the owner: the catalog, probes, spending."""
