"""HTTP: endpoints, fields, failures, listeners."""
