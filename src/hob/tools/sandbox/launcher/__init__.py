"""Starting a confined command and holding on to all that it starts."""
