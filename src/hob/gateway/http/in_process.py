"""In-process requests to the API as the owner."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpx2
from starlette.types import Message, Receive, Scope, Send

from hob.gateway.api import Api
from hob.gateway.http.asgi import build_api
from hob.gateway.http.endpoint import LINES, Endpoint
from hob.gateway.http.reply import TEXTS
from hob.gateway.routes.table import ENDPOINTS


async def answer_in_process(
    api: Api,
    more: Callable[[], Iterable[Endpoint[Any]]],
    method: str,
    route: str,
    query: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
    told: Callable[[bytes], object] | None = None,
) -> str:
    """Return the body of the answer, even of a failure; `told` gets its pieces as they come.

    `more` returns the endpoints of features.
    """
    app = build_api(api, local=True, endpoints=ENDPOINTS, more=more)

    async def observed(scope: Scope, receive: Receive, send: Send) -> None:
        async def both(message: Message) -> None:
            if told is not None and (piece := message.get("body")):
                told(piece)
            await send(message)

        await app(scope, receive, both)

    headers = {TEXTS: "1", **({"accept": LINES} if told is not None else {})}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(observed), base_url="http://hob") as client:
        return (await client.request(method, route, params=query, json=body, headers=headers)).text
