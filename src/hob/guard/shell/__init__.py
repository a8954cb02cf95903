"""Static analysis of shell commands: what would run, and what needs approval or is refused.

This is not a security boundary; the sandbox is. The analysis saves the owner questions about ordinary work and explains
the questions that remain.
"""
