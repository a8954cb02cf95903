"""Coding CLIs as models: Claude Code, Codex, Gemini and Copilot, each run once per request and shown no tools.

`backend` drives them, `process` runs one program, `sessions` knows what a CLI has heard already; each CLI has a module
of its own with its options and its decoder.
"""
