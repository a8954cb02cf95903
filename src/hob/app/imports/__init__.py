"""Imports from other assistants: files, conversations and settings. Nothing in them is run, followed or sent."""
