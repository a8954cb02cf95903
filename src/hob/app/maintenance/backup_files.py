"""What Hob remembers travels in its backups: memories and working notes, as `tools/` in the home keeps them."""

import shutil
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.errors import StoreFull
from hob.store.backup.backup import restore
from hob.store.backup.backup_files import swap_files, unpack_files
from hob.store.database.disk import free_name, stamp
from hob.tools.memory.forgotten import KEPT, Forgotten

FOLDER = "tools"
CARRIED = tuple(f"{FOLDER}/{pattern}" for pattern in KEPT)
"""The files that a backup carries."""


def restore_backup(home: Path, file: Path) -> tuple[Path | None, Path | None]:
    """Put a backup in place, with what Hob remembered then; where the former database and the former memories are kept.

    What was erased since stays erased. Memories stay as they are where the backup carries none. The caller owns the
    home. Raises as `hob.store.restore`.
    """
    unpacked = home / f"{FOLDER}.restoring"
    try:
        shutil.rmtree(unpacked, ignore_errors=True)
        carries = file.is_file() and unpack_files(file, unpacked, CARRIED)
        if carries:
            Forgotten(home / FOLDER).screen(unpacked / FOLDER)
        kept = restore(home, file)
        aside = free_name(home / f"remembered.before-restore-{stamp(SystemClock().now())}")
        moved = carries and swap_files(home, unpacked, CARRIED, aside)
    except OSError as error:
        raise StoreFull(f"{unpacked} cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    return kept, aside if moved else None
