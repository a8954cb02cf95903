"""How Hob is and what it did: read-only views, and the few operations the commands need."""

from collections.abc import AsyncIterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hob import __version__
from hob.core.errors import InvalidRequest
from hob.gateway.reply import api_of, json_response
from hob.gateway.views import export_lines, tasks_view, timeline_view


async def health(request: Request) -> Response:
    """200 while messages can be accepted, else 503 with the reason."""
    api = api_of(request)
    problem = api.store.health().problem
    if problem is None and not api.operations.accepting():
        problem = "stopping"
    body = {"status": "ok" if problem is None else "degraded", "version": __version__, "problem": problem}
    return json_response(body, 200 if problem is None else 503)


async def status(request: Request) -> Response:
    """What is waiting, running, owed and spent."""
    return json_response(await api_of(request).operations.status())


async def usage(request: Request) -> Response:
    """What was spent in the last `?days=`, told apart `?by=` day, model, session, sender or task; and each limit."""
    days = _number(request, "days", 30, 3660)
    return json_response(await api_of(request).operations.usage(days, request.query_params.get("by", "day")))


async def tasks(request: Request) -> Response:
    """The newest tasks; `?all=1` shows ended ones too."""
    everything = request.query_params.get("all", "") not in {"", "0"}
    return json_response(await tasks_view(api_of(request).store, _limit(request, 50), everything=everything))


async def timeline(request: Request) -> Response:
    """One trace (`?trace=`), or the latest events (`?session=`, `?limit=`)."""
    query = request.query_params
    view = await timeline_view(
        api_of(request).store,
        trace=query.get("trace"),
        session=query.get("session"),
        limit=_limit(request, 50),
    )
    return json_response(view)


async def prompt(request: Request) -> Response:
    """What a session's next request would hold, by section."""
    return json_response(await api_of(request).operations.prompt(request.query_params.get("session", "main")))


async def export(request: Request) -> Response:
    """A session (`?session=`) or all of them as JSON lines, metadata first."""
    lines = export_lines(api_of(request).store, request.query_params.get("session"))
    first = await anext(lines, "")  # an unknown session is told before the answer has begun

    async def all_lines() -> AsyncIterator[str]:
        yield first
        async for line in lines:
            yield line

    return StreamingResponse(all_lines(), media_type="application/jsonl")


async def retry(request: Request) -> Response:
    """Bring back a failed or set-aside message."""
    return json_response(await api_of(request).operations.retry(request.path_params["id"]), 202)


async def undo(request: Request) -> Response:
    """Put back what a turn changed in files, never over a later change; `?preview=1` only shows it.

    `?id=` is the turn's or a message's, or what `back` said, to take an undoing back; without it the newest turn of
    `?session=` that changed any file is undone.
    """
    query = request.query_params
    preview = query.get("preview", "") not in {"", "0"}
    operations = api_of(request).operations
    return json_response(await operations.undo(query.get("id", ""), query.get("session", "main"), preview=preview))


async def backup(request: Request) -> Response:
    """Write a consistent copy of the database to `?file=` (an absolute path on this machine)."""
    file = Path(request.query_params.get("file", ""))
    if not file.is_absolute():
        raise InvalidRequest("file must be an absolute path")
    return json_response(await api_of(request).operations.backup(file))


async def try_model(request: Request) -> Response:
    """Ask `?model=` for a word and for a call; what that costs is counted as the task `test`."""
    return json_response(await api_of(request).operations.try_model(request.query_params.get("model", "")))


async def hand_over(request: Request) -> Response:
    """Ask a one-shot owner to end after the work in hand."""
    api_of(request).operations.hand_over()
    return json_response({"handing_over": True}, 202)


def _limit(request: Request, default: int) -> int:
    return _number(request, "limit", default, 1000)


def _number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, str(default))
    if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= most:
        raise InvalidRequest(f"{name} must be a number from 1 to {most}")
    return int(text)
