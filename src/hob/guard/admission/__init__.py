"""Who may come in: people and their addresses, policies of chats, pairing, limits, what a message may hold. No I/O."""
