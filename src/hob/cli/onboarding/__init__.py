"""The steps of setting Hob up, and their outcomes."""
