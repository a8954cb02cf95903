"""Declared checks of a home; `hob doctor` and `hob security audit` each run a part of them."""
