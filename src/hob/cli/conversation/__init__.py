"""Conversation commands: chat, ask, sessions, retry, undo, prompt, replay."""
