"""Taking over what another assistant has: files, conversations, settings. Nothing of it is run, obeyed or sent."""
