"""The browser over this home, and the command by which its owner acts in it."""
