"""An external knowledge engine: large collections that are searched elsewhere."""
