"""Channels, one folder per platform. Terminal and API clients are served by the gateway."""
