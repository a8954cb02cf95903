"""MCP servers of a home: connections, tasks and sampling."""
