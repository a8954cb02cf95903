"""Approval questions to the owner: their content, what they bind, and their answers."""
