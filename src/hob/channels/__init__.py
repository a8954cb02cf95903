"""Conversations with the outside: one folder per platform. The terminal and the API are reached through the gateway."""
