"""Requests of commands to a home: through its daemon if one runs, else by opening the home in this process."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar, cast

from hob.app.daemon.unix_http import ConnectionLost, NotRunning, RequestFailed, call, lines, text_of
from hob.app.home import own, socket_of
from hob.config.environment import find_home, process_environment
from hob.core.errors import HobError, HomeInUse, InvalidRequest, NotAllowed, NotConfigured, NotFound, StoreFull
from hob.core.translation.language import restore_texts, translatable

T = TypeVar("T")

OPENING_SECONDS = 5.0
"""Seconds a new owner may take to listen before the home is reported as in use."""
LINES = "application/jsonl"
_TRANSLATING = {"x-hob-texts": "1"}
"""Asks for the message and values of texts, so that they can be translated here."""
_RAISED: Mapping[str, type[HobError]] = {
    "not_found": NotFound,
    "invalid_request": InvalidRequest,
    "not_allowed": NotAllowed,
    "not_configured": NotConfigured,
}


def local_key(session: str) -> str:
    """Return a session's full key; a bare name is one of the terminal's."""
    return session if ":" in session else f"local:{session}"


def reach(
    method: str, route: str, fields: Mapping[str, Any] | None = None, *, timeout: float | None = 60.0
) -> Mapping[str, Any]:
    """Return the API's answer to the owner, from the running Hob or from one opened for this request.

    Fields are sent as JSON with a POST, else in the query. A running Hob has `timeout` seconds to answer, or no limit.
    Raises the HobError that the API reports, or HomeInUse if the owner of the home does not listen.
    """
    home = find_home(process_environment())
    query, body = (None, fields or None) if method == "POST" else (fields, None)

    def ask() -> Mapping[str, Any]:
        return call(socket_of(home), method, route, query, body, timeout=timeout, headers=_TRANSLATING).body

    def ask_here() -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(_answer_here(home, method, route, query, body))
        return found

    return checked_answer(_ask_owner_or_here(ask, ask_here))


def checked_answer(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer with its texts made translatable. Raises the HobError that it reports."""
    if "error" in answer:
        raise error_of(answer)
    rest = {name: each for name, each in answer.items() if name != "texts"}
    return cast(Mapping[str, Any], restore_texts(rest, answer["texts"])) if "texts" in answer else answer


def error_of(body: Mapping[str, Any]) -> HobError:
    """Return the error that an answer reports."""
    error = body["error"]
    return _RAISED.get(error["code"], HobError)(text_of(error))


def reload_running(home: Path) -> Mapping[str, Any] | None:
    """Have the running Hob reload settings and secrets. Return its model and any problem with the settings.

    Return None if no Hob is running.
    """
    try:
        told = checked_answer(call(socket_of(home), "POST", "/reload", timeout=30, headers=_TRANSLATING).body)
        return {"problem": told.get("problem"), "model": call(socket_of(home), "GET", "/status").body.get("model")}
    except (NotRunning, ConnectionLost):
        return None


def running_model(home: Path) -> str | None:
    """Return the model that the running Hob uses, whose environment may differ; None if no Hob is running."""
    try:
        model = call(socket_of(home), "GET", "/status", timeout=5).body.get("model")
    except (NotRunning, ConnectionLost):
        return None
    return str(model) if model else None


def reach_lines(route: str, query: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a long answer; otherwise like `reach`."""
    home = find_home(process_environment())

    def ask() -> Iterator[str]:
        told = iter(lines(socket_of(home), route, query))
        first = list(islice(told, 1))  # shows whether a Hob listens
        return chain(first, told)

    def ask_here() -> Iterator[str]:
        text = _answer_here(home, "GET", route, query, None)
        if text.startswith('{"error":'):
            raise error_of(json.loads(text))
        return iter(StringIO(text, newline="\n"))

    yield from _ask_owner_or_here(ask, ask_here)


def reach_long(route: str, fields: Mapping[str, Any], told: Callable[[Mapping[str, Any]], None]) -> Mapping[str, Any]:
    """Return the last line of a long-running POST; `told` gets every line as progress.

    The last line has as many `seen` (or `items`) as `of`. Raises the same as `reach`, and ConnectionLost if the answer
    was cut off; a repetition continues the work.
    """
    home = find_home(process_environment())

    def tell(text: str | bytes) -> Mapping[str, Any]:
        seen: Mapping[str, Any] = json.loads(text)
        if "error" not in seen:
            told(seen)
        return seen

    def ask() -> Mapping[str, Any]:
        seen: Mapping[str, Any] = {}
        try:
            for text in lines(socket_of(home), route, None, fields, {**_TRANSLATING, "accept": LINES}):
                seen = tell(text)
        except RequestFailed as failed:
            return failed.body
        except (ConnectionLost, ValueError):  # possibly in the middle of a line
            seen = {}
        if "error" not in seen and (not seen or seen.get("seen", seen.get("items")) != seen.get("of")):
            raise ConnectionLost(
                translatable("Hob ended before this was done. Run it again: it continues where it was.")
            )
        return seen

    def ask_here() -> Mapping[str, Any]:
        text = _answer_here(home, "POST", route, None, fields, tell)
        seen: Mapping[str, Any] = json.loads(text.strip().rpartition("\n")[2])
        return seen

    return checked_answer(_ask_owner_or_here(ask, ask_here))


def _ask_owner_or_here(ask: Callable[[], T], answer_here: Callable[[], T]) -> T:
    """Return the owner's answer, or this process's if there is no owner.

    Waits for an owner that is still starting, or that owns the home only briefly as `hob ask` does.
    """
    until = time.monotonic() + OPENING_SECONDS
    while True:
        try:
            return ask()
        except NotRunning:
            try:
                return answer_here()
            except HomeInUse:
                if time.monotonic() > until:
                    raise
        time.sleep(0.05)


def _answer_here(
    home: Path,
    method: str,
    route: str,
    query: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
    told: Callable[[bytes], object] | None = None,
) -> str:
    # only a command that finds no owner has to load the application
    import asyncio
    import logging

    from hob.app.composition import open_app
    from hob.app.settings.sections import read_config
    from hob.app.subsystem import endpoints_of
    from hob.config.loading import Config
    from hob.gateway.http.in_process import answer_in_process
    from hob.store.backup.inspection import database_copied, has_database

    # warnings belong neither in the answer nor in the log
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    config = read_config()

    async def answer(config: Config) -> str:
        async with open_app(config.home, config, own_only=True) as app:
            more = partial(endpoints_of, app.features.subsystems)
            return await answer_in_process(app.api, more, method, route, query, body, told)

    try:
        with own(home, "command"):
            return asyncio.run(answer(config))
    except StoreFull as error:
        if method != "GET" or not has_database(home):
            raise
        print(f"{str(error).rstrip('.')}; this is what stands in it", file=sys.stderr)
    with database_copied(home) as copy:  # opening a database writes to it
        return asyncio.run(answer(replace(config, home=copy)))
