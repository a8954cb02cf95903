"""OpenAI chat completions, also used by most other servers."""
