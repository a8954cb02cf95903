"""The tools of a home: runtime, undo, and the catalog for their owner."""
