"""The only way out of the sandbox: a proxy that filters hosts."""
