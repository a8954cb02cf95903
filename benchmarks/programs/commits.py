"""Baseline: message-sized rows made durable in the given number of commits, N times, with bare apsw."""

import sys
import tempfile
import time
from pathlib import Path

import apsw

_ROW = "x" * 300


def main(commits: int, times: int, folder: str) -> None:
    """Print the CPU seconds per repetition."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        connection = apsw.Connection(str(Path(place) / "commits.db"))
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, text TEXT)")
        began = time.process_time()
        for _ in range(times * commits):
            connection.execute("BEGIN IMMEDIATE")
            for _ in range(3):
                connection.execute("INSERT INTO facts (text) VALUES (?)", (_ROW,))
            connection.execute("COMMIT")
        sys.stdout.write(f"{(time.process_time() - began) / times}\n")
        connection.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
