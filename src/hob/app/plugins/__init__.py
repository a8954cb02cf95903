"""Packages of others: found by their entry points, off until the owner enables them."""
