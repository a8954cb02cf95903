"""Coding CLIs as models: Claude Code, Codex, Gemini and Copilot, each run once per request without tools.

`backend` drives them, `process` runs a program, `sessions` tracks what a CLI already knows; each CLI has a module with
its options and its decoder.
"""
