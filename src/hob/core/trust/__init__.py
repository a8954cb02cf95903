"""Authorship and trust of content."""
