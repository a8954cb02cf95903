"""The tools `exec` and `process`: commands in the sandbox."""
