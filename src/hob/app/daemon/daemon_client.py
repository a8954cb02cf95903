"""Reaching the home's state from a command: through its owner if there is one, else by owning it for a moment."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from hob.app.daemon.unix_http import ConnectionLost, NobodyThere, call, lines
from hob.app.home import own, socket_of
from hob.core.errors import HobError, HomeTaken, InvalidRequest, NotAllowed, NotFound

T = TypeVar("T")

OPENING_SECONDS = 5.0
"""How long an owner may take to open its door before others are told that the home is in use."""
_RAISED: Mapping[str, type[HobError]] = {
    "not_found": NotFound,
    "invalid_request": InvalidRequest,
    "not_allowed": NotAllowed,
}


def local_key(session: str) -> str:
    """The whole key of a session as people name it here: a bare name is one of the terminal's."""
    return session if ":" in session else f"local:{session}"


def reach(
    home: Path,
    method: str,
    route: str,
    fields: Mapping[str, Any],
    here: "Callable[[Any], Awaitable[Mapping[str, Any]]]",
    *,
    timeout: float | None = 60.0,
) -> Mapping[str, Any]:
    """The owner's answer to a request, or what `here` makes of the opened application where there is no owner.

    The fields go as JSON with a POST, else in the query. The owner is waited for `timeout` seconds, or as long as it
    takes. Raises the HobError the owner told, or HomeTaken where the owner does not listen.
    """
    query, body = (None, fields or None) if method == "POST" else (fields, None)

    def ask() -> Mapping[str, Any]:
        answer = call(socket_of(home), method, route, query, body, timeout=timeout)
        if "error" in answer.body:
            raise error_of(answer.body)
        return answer.body

    return _either(ask, lambda: _answer_here(home, here))


def error_of(body: Mapping[str, Any]) -> HobError:
    """What the owner of a home told instead of an answer."""
    error = body["error"]
    return _RAISED.get(error["code"], HobError)(error["message"])


def reload_running(home: Path) -> Mapping[str, Any] | None:
    """Have the Hob that runs read settings and secrets anew: which model it asks then, or what is wrong.

    None where none runs.
    """
    try:
        told = call(socket_of(home), "POST", "/reload", timeout=30).body
        return {"problem": told.get("problem"), "model": call(socket_of(home), "GET", "/status").body.get("model")}
    except (NobodyThere, ConnectionLost):
        return None


def reach_lines(
    home: Path, route: str, query: Mapping[str, str], here: "Callable[[Any], AsyncIterator[str]]"
) -> Iterator[str]:
    """The same for an answer of many lines."""

    async def collect(app: Any) -> Mapping[str, Any]:
        return {"lines": [line async for line in here(app)]}

    def ask() -> Iterator[str]:
        told = iter(lines(socket_of(home), route, query))
        first = list(islice(told, 1))  # now it shows whether anybody is there
        return chain(first, told)

    yield from _either(ask, lambda: iter(_answer_here(home, collect)["lines"]))


def _either(ask: Callable[[], T], answer_here: Callable[[], T]) -> T:
    """What the owner answers, or this process where there is none.

    Who owns the home for a moment only, as `hob ask` does, is waited for until they listen or are gone.
    """
    until = time.monotonic() + OPENING_SECONDS
    while True:
        try:
            return ask()
        except NobodyThere:
            try:
                return answer_here()
            except HomeTaken:
                if time.monotonic() > until:
                    raise
        time.sleep(0.05)


def _answer_here(home: Path, here: "Callable[[Any], Awaitable[Mapping[str, Any]]]") -> Mapping[str, Any]:
    # only a command that finds no owner pays for loading the application
    import asyncio

    from hob.app.composition import open_app
    from hob.app.settings_sections import read_config

    config = read_config()

    async def answer() -> Mapping[str, Any]:
        async with open_app(home, config, own_only=True) as app:
            return await here(app)

    with own(home, "command"):
        return asyncio.run(answer())
