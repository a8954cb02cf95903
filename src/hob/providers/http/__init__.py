"""A model server over HTTP: requests, streams, faults."""
