"""`hob serve` with a hundred routes: the existing ones and generated ones, each with a typed request."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import make_dataclass, replace
from typing import Any

from starlette.responses import Response

from hob.app.daemon import daemon
from hob.app.endpoints import ENDPOINTS
from hob.app.home import own
from hob.app.settings.sections import read_config
from hob.app.subsystem import Subsystem, endpoints_of
from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.fields import field
from hob.gateway.http.reply import json_response

ROUTES = 100


async def answer(call: EndpointCall[Any]) -> Response:
    """Answer with the request and `limit` rows of it."""
    payload = getattr(call, "payload" if hasattr(call, "payload") else "asked")  # earlier revisions are measured too
    row = {"text": payload.text, "limit": payload.limit, "everything": payload.everything}
    return json_response({"rows": [row] * payload.limit})


def hundred(subsystems: Iterable[Subsystem]) -> Sequence[Endpoint[Any]]:
    """Return the existing routes, filled up to a hundred."""
    more = []
    for number in range(ROUTES - len(ENDPOINTS)):
        fields = (
            ("text", str, field("a text", "", characters=(0, 200))),
            ("limit", int, field("a number", 10, at_least=1, at_most=1000)),
            ("everything", bool, field("a truth", False)),
            ("since", float | None, field("seconds", None, at_least=0)),
        )
        request = make_dataclass(f"Request{number}", fields, frozen=True, slots=True)
        like: Endpoint[Any] = Endpoint("GET", f"/more/{number}/{{id}}", answer, TokenScope.READ, request)
        more.append(replace(like, method="POST") if number % 2 else like)
    return (*endpoints_of(subsystems), *more)


def main() -> None:
    """Serve, and print the address."""
    vars(daemon)["endpoints_of"] = hundred
    config = read_config()
    with own(config.home, "serve"):
        asyncio.run(daemon.run_daemon(config.home, config, on_ready=lambda url: print(f"ready: {url},", flush=True)))


if __name__ == "__main__":
    main()
