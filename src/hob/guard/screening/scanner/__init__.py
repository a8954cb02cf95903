"""Detection of texts that try to steer an assistant, by scored rules. A safety net, not the boundary. No I/O."""
