"""Rules for shell commands, one module per subject: which need approval and which are refused."""
