"""Tools for memory, facts and goals."""
