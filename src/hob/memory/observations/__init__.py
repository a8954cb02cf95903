"""Observations: dated, prioritised notes on what sessions were about."""
