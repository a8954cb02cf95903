"""The agent: turns, prompts, compaction, budgets, slash commands. Imports the core only."""
