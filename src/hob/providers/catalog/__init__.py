"""Known providers, their models and prices."""
