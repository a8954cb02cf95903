"""The tools that look, speak and read pages."""
