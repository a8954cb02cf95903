"""Another assistant's SQLite file, opened read-only and never through a symbolic link."""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from hob.app.imports.contents import SourceFolder
from hob.app.imports.source_files import Unreadable
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.store.backup.foreign import ForeignFile, open_foreign


def open_listing(
    path: Path, source: SourceFolder, tables: Mapping[str, Set[str]], listing: str, columns: Sequence[str], program: str
) -> tuple[ForeignFile, list[tuple[Any, ...]]]:
    """Return the open file, and these columns of all rows of `listing`, ordered by the first.

    Raises Unreadable if the path contains a link, a column of `tables` is missing, or the file is locked, possibly by
    `program`.
    """
    if path.resolve() != path:
        raise Unreadable(translatable("it is behind a link; links are not followed"))
    try:
        file = source.stack.enter_context(open_foreign(path))
        if any(not needed <= file.columns(table) for table, needed in tables.items()):
            raise Unreadable(translatable("Hob does not know its tables; files that its program exports can be read"))
        return file, list(file.rows(listing, columns, columns[0]))
    except (InvalidRequest, OSError) as error:
        raise Unreadable(
            translatable("{error}; stop {program} and try again", error=str(error), program=program)
        ) from error
