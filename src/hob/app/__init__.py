"""Where all is joined: the composition root, the daemon, and what features need of a home."""
