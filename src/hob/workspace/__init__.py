"""The workspace: identity files, their acceptance, and the initial files."""
