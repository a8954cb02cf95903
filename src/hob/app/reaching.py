"""Reaching the home's state from a command: through its owner if there is one, else by owning it for a moment."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hob.app.client import ConnectionLost, NobodyThere, call, lines
from hob.app.home import own, socket_of
from hob.core.errors import HobError, InvalidRequest, NotAllowed, NotFound

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
    takes. Raises the HobError the owner told, or HomeTaken in the moment between two owners.
    """
    query, body = (None, fields or None) if method == "POST" else (fields, None)
    try:
        answer = call(socket_of(home), method, route, query, body, timeout=timeout)
    except NobodyThere:
        return _answer_here(home, here)
    if "error" in answer.body:
        raise error_of(answer.body)
    return answer.body


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
    try:
        yield from lines(socket_of(home), route, query)
    except NobodyThere:

        async def collect(app: Any) -> Mapping[str, Any]:
            return {"lines": [line async for line in here(app)]}

        yield from _answer_here(home, collect)["lines"]


def _answer_here(home: Path, here: "Callable[[Any], Awaitable[Mapping[str, Any]]]") -> Mapping[str, Any]:
    # only a command that finds no owner pays for loading the application
    import asyncio

    from hob.app.opening import open_app
    from hob.app.sections import read_config

    config = read_config()

    async def answer() -> Mapping[str, Any]:
        async with open_app(home, config, own_only=True) as app:
            return await here(app)

    with own(home, "command"):
        return asyncio.run(answer())
