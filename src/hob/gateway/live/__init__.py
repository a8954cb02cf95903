"""`/ws`: a conversation and everything that happens, live, over one WebSocket (RFC 6455).

Loaded when somebody first connects. `table` has every kind of message; `connection` is one client; `frames` is the
wire, with limits for those who would fill the memory.
"""
