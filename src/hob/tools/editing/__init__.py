"""Changing files atomically. Every change is recorded before it is made."""
