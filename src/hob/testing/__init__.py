"""Public twins and contract checks for those who build channels, models, toolsets and hooks.

Twins behave like the real thing without a network; a check is the promise of a port as a function that any
implementation is run through.
"""
