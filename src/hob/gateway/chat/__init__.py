"""Messages received over the API, and their outcome."""
