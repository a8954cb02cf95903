"""Rendering of answers in a terminal."""
