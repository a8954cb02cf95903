"""Sub-agents: work that a turn gives to sessions of their own, and messages between sessions."""
