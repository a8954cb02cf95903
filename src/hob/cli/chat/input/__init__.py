"""Input of the chat: keys, completion, history, drafts."""
