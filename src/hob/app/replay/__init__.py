"""Replaying a turn: its exact model requests, and another model's answers to them."""
