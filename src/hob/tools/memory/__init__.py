"""The tools that remember, and what they keep."""
