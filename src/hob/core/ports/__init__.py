"""Ports with two or more users: small Protocols, matched structurally. One file per subject."""
