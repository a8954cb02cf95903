"""Search providers, one module each."""
