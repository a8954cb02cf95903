"""Rules for shell commands, a module per subject: which are asked about or refused."""
