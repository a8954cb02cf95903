"""External knowledge engine for large collections."""
