"""Search providers: one module each, all with the same few results."""
