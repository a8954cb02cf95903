"""Models of all providers behind one port. One folder per wire; retries, prices and settings are shared."""
