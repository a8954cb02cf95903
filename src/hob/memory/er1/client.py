"""Client for the ER1 API, modelled on KafClaw's: `POST /user/access`, then `GET /memory/{ctx_id}`."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx2

from hob.core.memory import OWNER, Layer, MemoryItem, Scope
from hob.core.trust.labels import Label, Origin, Trust
from hob.memory.er1.settings import Er1Settings
from hob.memory.ingestion.documents import items_of_document
from hob.memory.json_answer import SourceFailed, json_of

_SECONDS = 30.0
_FIRST_LIMIT, _MAX_LIMIT = 50, 12_800
_MAX_BYTES = 50_000_000
_PROCESSED = "processed"
_RECORDED = Label(Origin.CLIENT, Trust.UNTRUSTED)
"""Label of recordings, which may hold anybody's voice."""


class Er1Client:
    """Access to one user's recordings."""

    def __init__(self, settings: Er1Settings) -> None:
        self._settings = settings
        self._context = ""

    async def recorded(self, since: float) -> Sequence[Sequence[MemoryItem]]:
        """Yield the items of each transcribed recording since that time (Unix seconds), oldest first.

        Raises SourceFailed.
        """
        key = self._settings.api_key
        headers = {"X-API-KEY": key.reveal()} if key else {}
        try:
            async with (
                asyncio.timeout(4 * _SECONDS),
                httpx2.AsyncClient(timeout=_SECONDS, trust_env=False, headers=headers) as http,
            ):
                if not self._context:
                    answer = await self._ask(http, "POST", "/user/access", json={"uid": self._settings.user})
                    self._context = quote(str(answer.get("ctx_id") or ""), safe="")
                    if not self._context:
                        raise SourceFailed("ER1 named no memory of this user; check er1.user")
                found = filter(None, map(items_of_recording, await self._all(http, since)))
                return sorted(found, key=lambda items: items[0].at)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            raise SourceFailed(f"ER1 does not answer: {str(error) or type(error).__name__}") from error

    async def _all(self, http: httpx2.AsyncClient, since: float) -> Sequence[Any]:
        """Repeat the request until no more items arrive, because the API has no pages."""
        query = {"startDate": datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds")} if since else {}
        limit = _FIRST_LIMIT
        while True:
            answer = await self._ask(http, "GET", f"/memory/{self._context}", params={"limit": str(limit), **query})
            found = answer.get("memories")
            memories = found if isinstance(found, list) else []
            if len(memories) < limit or limit >= _MAX_LIMIT:
                return memories
            limit *= 4

    async def _ask(self, http: httpx2.AsyncClient, method: str, path: str, **options: Any) -> Mapping[str, Any]:
        async with http.stream(method, self._settings.url.rstrip("/") + path, **options) as response:
            if response.status_code in (401, 403):
                self._context = ""
            answer = await json_of(response, "ER1", "er1", _MAX_BYTES)
        if not isinstance(answer, dict):
            raise SourceFailed("ER1 answered with no JSON object; check er1.url")
        return answer


def items_of_recording(memory: Any) -> Sequence[MemoryItem]:
    """Split a recording into items; none if it has not been transcribed yet or is not a recording."""
    if not isinstance(memory, Mapping) or memory.get("transcript_status") != _PROCESSED:
        return []
    id, transcript = str(memory.get("id") or "")[:200], str(memory.get("transcript") or "").strip()
    try:
        at = datetime.fromisoformat(str(memory.get("created_at"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return []
    if not id or not transcript:
        return []
    tags = memory.get("tags")
    latitude, longitude = memory.get("location_lat"), memory.get("location_lon")
    lines = [f"Tags: {', '.join(map(str, tags))}"] if isinstance(tags, list) and tags else []
    if isinstance(latitude, int | float) and isinstance(longitude, int | float):
        lines.append(f"Location: {latitude:.4f}, {longitude:.4f}")
    if memory.get("description"):
        lines.append(f"Description: {memory['description']}")
    text = "\n".join([*lines, transcript]).replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return items_of_document(text, id, scope=Scope(OWNER), layer=Layer.ER1, label=_RECORDED, at=at)
