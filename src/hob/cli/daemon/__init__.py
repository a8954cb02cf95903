"""Commands about the running daemon: serve, service, status, stop, doctor, dashboard."""
