"""What could be safer about this Hob: the checks of the security audit, a module per subject."""
