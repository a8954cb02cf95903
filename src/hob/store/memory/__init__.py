"""Tables of memory."""
