"""Packages of others: found by their entry points, off until the owner enables them."""

MANIFESTS = "plugins.json"
"""In the home: what the owner has confirmed of each."""
