"""Reading shell commands: what would run, and what of it must be asked about or refused.

It is no boundary: the sandbox is. It keeps the owner from being asked about plain work, and shows what is asked about.
"""
