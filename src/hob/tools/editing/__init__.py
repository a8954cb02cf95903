"""Changing files atomically, with every change recorded first."""
