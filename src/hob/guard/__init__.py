"""Deciding who may come in and what may be done."""
