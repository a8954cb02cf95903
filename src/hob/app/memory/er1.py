"""Periodic synchronisation with ER1."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from hob.app.running_app import RunningServices
from hob.core.clock import Clock
from hob.core.memory import OWNER, Layer, Scope
from hob.memory.er1.client import Er1Client
from hob.memory.er1.settings import Er1Settings
from hob.memory.json_answer import SourceFailed
from hob.store.store import Store

log = logging.getLogger(__name__)

OVERLAP_SECONDS = 7 * 86_400.0
"""Seconds before the newest item that are fetched again, since recordings may have been transcribed meanwhile."""
MAX_SECONDS = 3_600.0
"""Maximum pause after failures, in seconds."""


class Er1Sync:
    """Imports recordings from ER1. The newest item is the cursor, so nothing is missed after a crash.

    `notify` is called when there are new items.
    """

    def __init__(
        self, settings: Er1Settings, store: Store, clock: Clock, notify: Callable[[], None] = lambda: None
    ) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock
        self._notify = notify
        self._problem = ""
        self._last: float | None = None

    def view(self) -> Mapping[str, Any]:
        """Return whether the last call succeeded, and when (Unix seconds)."""
        connected = self._last is not None and not self._problem
        return {"connected": connected, "last_sync": self._last, "url": self._settings.url, "problem": self._problem}

    async def run(self, _: RunningServices) -> None:
        """Synchronise until cancelled, less often after failures."""
        client, pause = Er1Client(self._settings), self._settings.sync_seconds
        while True:
            try:
                await self.sync(client)
                pause, self._problem = self._settings.sync_seconds, ""
            except SourceFailed as error:
                if str(error) != self._problem:
                    log.warning("%s", error)
                self._problem = str(error)
                pause = max(self._settings.sync_seconds, min(2 * pause, MAX_SECONDS))
            await self._clock.sleep(pause)

    async def sync(self, client: Er1Client) -> int:
        """Store new or changed recordings; return their number. Raises SourceFailed, StoreErrors."""
        items = self._store.items.of(Scope(OWNER))
        now = self._clock.now().timestamp()  # a recorder's clock may be wrong
        newest = await items.select("i.layer = ? AND i.at <= ?", (Layer.ER1, now), limit=1)
        found = await client.recorded(max(0.0, newest[0].at - OVERLAP_SECONDS) if newest else 0.0)
        new = 0
        for recording in found:
            first = recording[0]
            new += await self._store.items.replace_source(first.scope, first.source, recording)
        if new:
            self._notify()
        self._last = now
        return new
