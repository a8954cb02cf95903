"""Bytes as text: encodings, media types, documents, tables."""
