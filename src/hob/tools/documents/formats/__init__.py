"""A reader for each kind of document; they run in a process of their own."""
