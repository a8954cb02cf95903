"""Taking over what another assistant has: files, conversations, settings. Nothing of it is run, followed or sent."""
