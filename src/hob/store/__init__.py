"""The SQLite database of Hob. All SQL is here."""
