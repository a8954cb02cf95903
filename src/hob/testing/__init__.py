"""Test doubles and contract checks for authors of channels, models, toolsets and hooks.

A double behaves like the real thing without a network; a check verifies the contract of a port on any implementation.
"""
