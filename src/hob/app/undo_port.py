"""What letting go of old things needs of the tools."""

from collections.abc import Collection
from typing import Protocol

from hob.core.ids import BlobId, TurnId


class UndoneFiles(Protocol):
    """What is kept to undo the changes of turns in files."""

    async def blobs_kept(self) -> Collection[BlobId]:
        """The bytes that undoing needs."""
        ...

    async def undoable(self) -> Collection[TurnId]:
        """The turns that changed files, those apart whose commands still run."""
        ...

    async def forget_undoing(self, turns: Collection[TurnId]) -> Collection[BlobId]:
        """What these turns changed in files cannot be undone any more; the bytes that nothing of it needs now."""
        ...
