"""Erasure, retention, and the data of a person."""
