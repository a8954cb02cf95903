"""Text from bytes: encodings, media types, documents, tables."""
