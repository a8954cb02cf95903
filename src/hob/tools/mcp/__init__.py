"""Tools of MCP servers: connected to, pinned to what the owner accepted, confined."""
