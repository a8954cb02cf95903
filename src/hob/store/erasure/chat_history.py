"""The input history of the terminal chat, stored in the home."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hob.core.content.json_text import parse_json
from hob.store.erasure.quotes import MIN_LENGTH

CHAT_HISTORY = "chat_history"


def erase_typed(home: Path, texts: Iterable[str]) -> None:
    """Remove each history entry that equals one of these texts or contains a line of one. Raises OSError."""
    file = home / CHAT_HISTORY
    if not file.exists():
        return
    whole = {text.strip() for text in texts} - {""}
    lines = {line.strip() for text in whole for line in text.splitlines()}
    wanted = [line for line in lines if len(line) >= MIN_LENGTH]
    kept, entries = [], file.read_text("utf-8", "replace").splitlines(keepends=True)
    everything = "\n".join(str(parse_json(entry)) for entry in entries)
    wanted = [line for line in wanted if line in everything]
    for entry in entries:
        typed = str(parse_json(entry)).strip()
        if typed not in whole and not any(line in typed for line in wanted):
            kept.append(entry)
    if len(kept) < len(entries):
        part = file.with_suffix(".forgetting")
        with suppress(FileNotFoundError):
            part.unlink()
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
                out.writelines(kept)
                out.flush()
                os.fsync(out.fileno())
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
