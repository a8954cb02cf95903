"""MCP servers over this home: reached, offered to turns, added and accepted."""
