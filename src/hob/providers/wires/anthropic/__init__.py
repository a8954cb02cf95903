"""The wire of Anthropic's Messages, and of those who speak it too."""
