"""The command line: one module per subject, loaded only when its command runs."""
