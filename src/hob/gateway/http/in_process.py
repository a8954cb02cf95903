"""The API asked from within its own process, as its owner at the Unix socket."""

from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from hob.gateway.api import Api
from hob.gateway.http.asgi import build_api
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.reply import TEXTS


async def answer_in_process(
    api: Api,
    endpoints: Iterable[Endpoint[Any]],
    method: str,
    route: str,
    query: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
) -> str:
    """The body of the answer, also of one that tells of a failure."""
    transport = httpx2.ASGITransport(build_api(api, local=True, endpoints=endpoints))
    async with httpx2.AsyncClient(transport=transport, base_url="http://hob") as client:
        return (await client.request(method, route, params=query, json=body, headers={TEXTS: "1"})).text
