"""Tools for pictures, speech and PDF pages."""
