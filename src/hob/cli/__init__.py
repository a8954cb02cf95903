"""The commands, one subject a file; each is loaded only when it is used."""
