"""The one SQLite file and everything in it. All SQL is here."""
