"""What OpenAI's API does besides answering, and with it every server that speaks it: vectors, hearing, speaking."""
