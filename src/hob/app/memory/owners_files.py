"""Looking at the owner's files: as they change, and after turns; how often what has expired is let go of."""

import asyncio
import math
from collections.abc import Callable, Collection
from pathlib import Path

from hob.app.kernel import Kernel
from hob.app.memory.documents import DocumentIndexer
from hob.app.memory.folder_watch import FolderWatch
from hob.app.running_app import RunningServices
from hob.bus.waiting import unwrap_single_error
from hob.core.events.timeline import EventKind
from hob.memory.ingestion.files import NOTES, FileIndexer
from hob.memory.service import MemoryService
from hob.workspace.settings import WorkspaceSettings

PRUNE_SECONDS = 86_400.0
"""Least time between letting go of what has expired, and the next."""
LOOK_SECONDS = 30.0
"""Least time between two looks at the owner's files after turns."""
WALK_SECONDS = 300.0
"""Least time between two looks after turns at documents that were added."""
_REST = 9
"""So many times as long as a look took nothing is looked at because it changed."""


class OwnersFiles:
    """A job that takes up what changes in the owner's files, and lets go of what has expired.

    While nothing happens and no file changes, nothing is asked of memory either.
    """

    def __init__(
        self,
        kernel: Kernel,
        service: MemoryService,
        files: FileIndexer,
        documents: DocumentIndexer,
        watch: FolderWatch,
        notify: Callable[[], None],
    ) -> None:
        """`notify` is told when there may be more to find."""
        self._kernel = kernel
        self._service = service
        self._files = files
        self._documents = documents
        self._watch = watch
        self._notify = notify
        self._workspace = kernel.config[WorkspaceSettings].path.expanduser()
        self._looking = asyncio.Lock()

    async def run(self, _: RunningServices) -> None:
        """Look until cancelled. Raises StoreErrors."""
        with self._watch.opened(), unwrap_single_error():
            async with asyncio.TaskGroup() as group:
                group.create_task(self._after_turns())
                group.create_task(self._as_they_change())

    async def _after_turns(self) -> None:
        clock = self._kernel.clock
        with self._kernel.store.timeline.news((EventKind.TURN,)) as news:
            pruned = walked = -math.inf
            while True:
                news.clear()
                looked = clock.monotonic()  # before: what happens during a look is looked at after it
                walks, prunes = looked - walked > WALK_SECONDS, looked - pruned > PRUNE_SECONDS
                await self._look(None if walks else ())
                walked = looked if walks else walked
                if prunes:
                    await self._service.prune(self._kernel.store.memory_lifecycle)
                    pruned = looked
                await news.wait()
                while clock.monotonic() - looked < LOOK_SECONDS:
                    news.clear()
                    await news.wait()

    async def _as_they_change(self) -> None:
        clock = self._kernel.clock
        while True:
            changed = await self._watch.changes(clock)
            began = clock.monotonic()
            await self._look(changed)
            await clock.sleep(_REST * (clock.monotonic() - began))

    async def _look(self, documents: Collection[Path] | None) -> None:
        """At identity files and daily notes, and at these documents of those that were added; None: at all."""
        async with self._looking:
            await asyncio.to_thread(self._cover)
            await self._files.sync()
            if documents is None or documents:
                await self._documents.sync(documents)
            self._notify()

    def _cover(self) -> None:
        for folder in (self._workspace, self._workspace / NOTES):
            if folder.is_dir():
                self._watch.cover(folder, ".md", below=False)
