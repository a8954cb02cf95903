"""Incoming webhooks (`/hooks/NAME`): authentication, parsing, and the message they become."""
