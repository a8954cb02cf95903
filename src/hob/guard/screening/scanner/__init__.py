"""Texts that try to steer an assistant: found by scored rules. A net, never the boundary. No I/O."""
