"""The wire of OpenAI chat completions, and of everybody who speaks it: `settings`, `wire` (no I/O), `model`."""
