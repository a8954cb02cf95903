"""Vocabulary of the system: frozen values, ports and the clock. Imports only the standard library."""
