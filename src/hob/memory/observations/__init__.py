"""Observations: dated, prioritised notes on the content of sessions."""
