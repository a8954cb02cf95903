"""Phone access to the dashboard: an optional TLS listener, and its certificates."""
