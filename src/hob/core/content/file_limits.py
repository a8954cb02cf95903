"""The largest file of a message: handed in over the API, attached in a chat, taken from a channel, sent by a tool."""

LARGEST_FILE = 25_000_000
"""Bytes. What comes with messages can be limited further: `admission.attachment_bytes`."""
