"""`/ws`: chat and live events over one WebSocket (RFC 6455).

Loaded with the first connection. `table` lists every kind of message, `connection` is one client, and `frames` is the
wire with its memory limits.
"""
