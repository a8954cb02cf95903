"""Tools that look, speak, and read documents by their pages."""
