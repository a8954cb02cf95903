"""JSON responses of memory servers."""

import json
from typing import Any

import httpx2

from hob.core.errors import HobError


class SourceFailed(HobError):
    """Raised if a source of memory failed to deliver."""


async def json_of(response: httpx2.Response, who: str, section: str, maximum: int) -> Any:
    """Parse a response of limited size as JSON. Raises SourceFailed, which names the setting to check."""
    if response.status_code in (401, 403):
        raise SourceFailed(f"{who} refused the key; check {section}.api_key")
    if response.status_code != 200:
        raise SourceFailed(f"{who} answered with {response.status_code}")
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > maximum:
            raise SourceFailed(f"{who} answered with more than {maximum:,} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise SourceFailed(f"{who} answered with no JSON; check {section}.url") from None
