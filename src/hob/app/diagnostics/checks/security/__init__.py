"""The checks of the security audit, one module per subject."""
