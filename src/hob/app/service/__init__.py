"""Hob as a service of its user: systemd on Linux, launchd on macOS."""
