"""Readers of document formats, run in the worker process."""
