"""Screening of texts: known secrets, sensitive data for models, attempts to steer Hob."""
