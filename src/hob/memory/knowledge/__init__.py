"""An external knowledge engine for large collections."""
