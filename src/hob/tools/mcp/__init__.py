"""MCP client: sandboxed connections to servers whose tool descriptions the owner has accepted."""
