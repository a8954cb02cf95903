"""Checks as data over one home; `hob doctor` and `hob security audit` are two views of them."""
