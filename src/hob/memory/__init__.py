"""Memory: storing what is worth keeping and finding what answers a question."""
