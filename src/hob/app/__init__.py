"""Where all is joined: the composition root, the daemon and the commands."""
