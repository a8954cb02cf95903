"""Sub-agents, and messages between sessions."""
