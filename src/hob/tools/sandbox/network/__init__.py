"""Network access of the sandbox: a proxy that filters hosts."""
