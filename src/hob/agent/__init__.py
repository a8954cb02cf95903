"""One turn: what is asked, what is done, what is said. Imports the core only."""
