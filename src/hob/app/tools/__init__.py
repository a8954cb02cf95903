"""The tools over this home: their runtime, what they changed and how it is undone."""
