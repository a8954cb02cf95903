"""Size limit for files in messages: uploaded, attached, received from a channel or sent by a tool."""

LARGEST_FILE = 25_000_000
"""Bytes. Incoming files can be limited further with `admission.attachment_bytes`."""
