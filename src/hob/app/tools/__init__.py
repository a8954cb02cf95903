"""Hob's tools over a home: runtime, undo, and the catalog for their owner."""
