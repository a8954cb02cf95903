"""The SQLite file: threads, migrations, checks."""
