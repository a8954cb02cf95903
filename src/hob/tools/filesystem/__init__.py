"""Files and folders below the roots: found, listed, searched, read."""
