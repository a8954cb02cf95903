"""The workspace: identity files, their acceptance, the first files."""
