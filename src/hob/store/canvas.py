"""Canvas pages and their versions, stored as plug-in records, so that backups, erasure and retention cover them."""

import json
from collections.abc import Sequence
from dataclasses import replace

from hob.core.clock import Clock
from hob.core.content.canvas import CanvasPage
from hob.core.errors import NotFound
from hob.core.ids import SessionKey, TurnId
from hob.core.translation.language import translatable
from hob.store.plugin_records import PluginRecord, PluginRecords

MAX_PAGES, MAX_VERSIONS = 40, 20
HIDDEN_SECONDS = 30 * 86_400.0
"""Retention of a hidden page."""
_PAGE, _HTML = "page", "html"


class StoredCanvas:
    """Stores canvas pages. All methods raise StoreErrors."""

    def __init__(self, records: PluginRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def present(self, page: CanvasPage, html: str) -> CanvasPage:
        """Store the page as the newest version; an unchanged page adds none."""
        versions = await self.versions(page.id)
        if versions:
            last = versions[-1]
            same = (last.scripts, last.hidden, last.server) == (page.scripts, False, page.server)
            if same and await self.html(versions[-1]) == html:
                return versions[-1]
            page = replace(page, version=versions[-1].version)
        page = replace(page, version=page.version + 1, at=self._clock.now().timestamp())
        await self._put(page, html)
        for old in versions[: -(MAX_VERSIONS - 1)]:
            await self._drop(old)
        for old in sorted(await self.pages(), key=lambda each: (each.hidden, -each.at))[MAX_PAGES:]:
            for each in await self.versions(old.id):
                await self._drop(each)
        return page

    async def pages(self) -> Sequence[CanvasPage]:
        """Return the newest version of each page, the most recently presented first."""
        newest = {page.id: page for page in await self._read(f"{_PAGE}/")}
        return sorted(newest.values(), key=lambda each: -each.at)

    async def versions(self, id: str) -> Sequence[CanvasPage]:
        """Return the stored versions of a page, oldest first."""
        return await self._read(f"{_PAGE}/{id}/")

    async def find(self, id: str, version: int = 0) -> CanvasPage:
        """Return this version, or the newest. Raises NotFound."""
        found = [page for page in await self.versions(id) if version in (0, page.version)]
        if not found:
            raise NotFound(translatable("there is no such page, or not in this version"))
        return found[-1]

    async def html(self, page: CanvasPage) -> str:
        """Return the page's HTML. Raises NotFound."""
        found = await self._records.find(_key(_HTML, page))
        if found is None:
            raise NotFound(translatable("there is no such page, or not in this version"))
        return found.value

    async def hide(self, page: CanvasPage) -> None:
        """Hide the page; it is deleted after a while."""
        for each in await self.versions(page.id):
            await self._put(replace(each, hidden=True), await self.html(each))

    async def let_run(self, page: CanvasPage) -> CanvasPage:
        """Allow the scripts of this version to run."""
        page = replace(page, scripts=True)
        await self._put(page, await self.html(page))
        return page

    async def _put(self, page: CanvasPage, html: str) -> None:
        expires = self._clock.now().timestamp() + HIDDEN_SECONDS if page.hidden else None
        kept = {"name": page.name, "title": page.title, "at": page.at, "scripts": page.scripts, "hidden": page.hidden}
        kept |= {"server": page.server} if page.server else {}
        for kind, value in ((_HTML, html), (_PAGE, json.dumps(kept))):
            row = PluginRecord(_key(kind, page), value, page.turn, page.session, expires=expires)
            await self._records.put(row)

    async def _drop(self, page: CanvasPage) -> None:
        for kind in (_PAGE, _HTML):
            await self._records.drop(_key(kind, page))

    async def _read(self, prefix: str) -> Sequence[CanvasPage]:
        return [_load(record) for record in await self._records.list(prefix)]


def _key(kind: str, page: CanvasPage) -> str:
    return f"{kind}/{page.id}/{page.version:06}"


def _load(record: PluginRecord) -> CanvasPage:
    kept, version = json.loads(record.value), int(record.key.rpartition("/")[2])
    return CanvasPage(record.session or SessionKey(""), turn=record.turn or TurnId(""), version=version, **kept)
