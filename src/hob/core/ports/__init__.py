"""Ports that have two users or more: small Protocols, matched structurally. One file per subject."""
