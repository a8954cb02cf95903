"""The words of the system: frozen values, ports and the clock. Standard library only."""
