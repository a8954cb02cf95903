"""Wires: the protocols of model servers, one folder each."""
