"""The tools `web_fetch` and `web_search`, and their cache."""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from hob.core.clock import Clock
from hob.core.content.documents import Documents
from hob.core.errors import NotConfigured, ToolFailed
from hob.core.ports.tools import Blobs, CallContext
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.tools.registry.declaration import ToolOutput, Tools, implements
from hob.tools.web.fetcher import FetchedPage, WebFetcher
from hob.tools.web.page_text import PageText, plain, text_of
from hob.tools.web.search.provider import Hit, SearchProvider, WebQuery
from hob.tools.web.specs import WEB_FETCH, WEB_SEARCH

WEB_LABEL = Label(Origin.WEB, Trust.UNTRUSTED)
MAX_CHARACTERS = 20_000
KEPT_SECONDS = 900.0
"""Seconds for which pages and search results stay cached."""

_MAX_KEPT = 32
_MAX_OF_ERROR = 2_000
_HEAD = 1_500  # characters reserved for the description of a page
_RESULT = re.compile(r"https?://[^\s<>\"]{1,2000}")
_ADDRESS = re.compile("https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Read:
    page: FetchedPage
    text: PageText
    until: float


Search = Callable[[], SearchProvider]


class WebTools:
    """The tools, with a cache of pages and results."""

    def __init__(self, fetcher: WebFetcher, search: Search, documents: Documents, blobs: Blobs, clock: Clock) -> None:
        """`search` returns the provider, or raises NotConfigured if there is none."""
        self._fetcher = fetcher
        self._search = search
        self._documents = documents
        self._blobs = blobs
        self._clock = clock
        self._kept: OrderedDict[str, _Read] = OrderedDict()
        self._found: OrderedDict[WebQuery, tuple[tuple[Hit, ...], float]] = OrderedDict()
        self.toolset = Tools(self.web_search, self.web_fetch)

    @implements(WEB_FETCH, WEB_LABEL)
    async def web_fetch(
        self,
        url: str,
        context: CallContext,
        format: Literal["markdown", "text"] = "markdown",  # noqa: A002
        offset: int = 0,
        max_chars: int = MAX_CHARACTERS,
    ) -> ToolOutput:
        read, cached = await self._read(url)
        page, found = read.page, read.text
        text = found.text if format == "markdown" else plain(found.text)
        failed = page.status >= 400
        maximum = min(max(max_chars, 1), _MAX_OF_ERROR if failed else MAX_CHARACTERS, context.maximum - _HEAD)
        start = min(max(offset, 0), len(text))
        shown = text[start : start + maximum]
        more = start + len(shown) < len(text)
        blob = await self._blobs.put(text.encode(), "text/plain") if more and not failed else None
        told: dict[str, Any] = {
            "url": url,
            **({"finalUrl": page.final_url} if page.final_url != url else {}),
            "status": page.status,
            "contentType": page.media_type,
            **({"title": found.title} if found.title else {}),
            "extractor": found.extractor,
            "length": len(text),
            "truncated": more or found.cut or page.cut,
            "fetchedAt": page.fetched_at.isoformat(timespec="seconds"),
            **({"cached": True} if cached else {"tookMs": round(page.took * 1000)}),
            **({"spill": f"blob:{blob}"} if blob is not None else {}),
        }
        notes = [f"characters {start:,}-{start + len(shown):,} of {len(text):,}; go on with offset={start + maximum}"]
        notes = (notes if more else []) + ([found.note] if found.note else [])
        below = "".join(f"\n[{note}]" for note in notes)
        return ToolOutput(f"{json.dumps(told, ensure_ascii=False)}\n\n{shown}{below}", is_error=failed, rest=blob)

    @implements(WEB_SEARCH, WEB_LABEL)
    async def web_search(
        self,
        query: str,
        count: int = 5,
        freshness: Literal["", "day", "week", "month", "year"] = "",
        language: str = "",
        country: str = "",
    ) -> str:
        if not query.strip():
            raise ToolFailed("there is nothing to search for")
        asked = WebQuery(" ".join(query.split())[:400], min(max(count, 1), 20), freshness, language[:2], country[:2])
        try:
            provider = self._search()
        except NotConfigured as error:
            raise ToolFailed(str(error)) from error
        now = self._clock.monotonic()
        hits, until = self._found.get(asked, ((), 0.0))
        if until <= now:
            hits = await provider.search(asked)
            self._found[asked] = hits, now + KEPT_SECONDS
            while len(self._found) > _MAX_KEPT:
                self._found.popitem(last=False)
        return "\n".join(_lines(hits)) or f"{provider.name} found nothing for {asked.words!r}"

    async def _read(self, url: str) -> tuple[_Read, bool]:
        """Return the page, and whether it was cached."""
        now = self._clock.monotonic()
        for old in [each for each, read in self._kept.items() if read.until <= now]:
            del self._kept[old]
        if (kept := self._kept.get(url)) is not None:
            return kept, True
        page = await self._fetcher.get(url)
        text = await text_of(page, self._documents)
        read = _Read(replace(page, data=b""), text, now + KEPT_SECONDS)
        if page.status < 400:
            self._kept[url] = read
            while len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
        return read, False


def _lines(hits: Sequence[Hit]) -> Iterator[str]:
    """Format results. Only result addresses count as addresses; those inside snippets do not."""
    for n, hit in enumerate(filter(lambda hit: _RESULT.fullmatch(hit.url), hits), start=1):
        yield f"{n}. {_ADDRESS.sub('', hit.title)[:300]}"
        yield f"   {hit.url}"
        if about := " · ".join(part for part in (hit.age, _ADDRESS.sub("", hit.snippet)[:600]) if part):
            yield f"   {about}"
