"""Commands that talk: chat, ask, sessions, retry, undo, prompt, replay."""
