"""The owner's view of the work repository and the identity files."""
