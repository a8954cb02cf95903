"""Client for an external knowledge engine: its REST search, or a tool of an MCP server if that fails.

`GET /search?q=&k=` returns a list, or an object with a list as `results`; each result has an `id` and a `text`. Results
are claims of their source, and do not count as the owner's word.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

import httpx2

from hob.core.content.json_text import parse_json
from hob.core.errors import HobError
from hob.core.ids import CallId, SessionKey, TurnId, new_span_id, new_trace_id
from hob.core.memory import OWNER, Memory
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.turns import Turn
from hob.memory.json_answer import SourceFailed, json_of
from hob.memory.knowledge.settings import KnowledgeSettings

log = logging.getLogger(__name__)

_MAX_BYTES = 2_000_000
_LONGEST, _LONGEST_ID = 1_500, 200
_LISTS = ("results", "hits", "documents", "items", "data")
_TEXTS = ("text", "content", "snippet", "passage", "body")
_IDS = ("id", "source", "url", "uri", "path")
_TIMES = ("date", "created_at", "updated_at", "timestamp")
_QUERIES = ("q", "query", "question", "text")
_COUNTS = ("k", "limit", "top_k", "count", "n")


class KnowledgeEngine:
    """Implements `Recall`, for the owner only: other people's questions do not leave this machine."""

    def __init__(self, settings: KnowledgeSettings, find_tool: Callable[[str], Toolset | None]) -> None:
        self._settings = settings
        self._find_tool = find_tool
        self.problem = ""

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        """Return helpful results, best first. Never raises."""
        if session != OWNER or not query.strip():
            return ()
        maximum, problems = min(limit, self._settings.results), []
        for ask, wanted in ((self._search, self._settings.url), (self._call, self._settings.tool)):
            if not wanted:
                continue
            try:
                found = await ask(query, maximum)
            except (HobError, httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
                problems.append(str(error) or type(error).__name__)
                continue
            self._note("")
            return found
        self._note("; ".join(problems))
        return ()

    def _note(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("the knowledge engine failed: %s", problem)
        self.problem = problem

    async def _search(self, query: str, maximum: int) -> tuple[Memory, ...]:
        settings = self._settings
        headers = {"X-API-KEY": settings.api_key.reveal()} if settings.api_key else {}
        params = {"q": query, "k": str(maximum)}
        url = f"{settings.url.rstrip('/')}/search"
        async with (
            asyncio.timeout(settings.seconds),
            httpx2.AsyncClient(timeout=settings.seconds, trust_env=False, headers=headers) as http,
            http.stream("GET", url, params=params) as response,
        ):
            answer = await json_of(response, "the knowledge engine", "knowledge", _MAX_BYTES)
        return tuple(found_in(answer, Origin.WEB))[:maximum]

    async def _call(self, query: str, maximum: int) -> tuple[Memory, ...]:
        name = self._settings.tool
        toolset = self._find_tool(name)
        if toolset is None:
            raise SourceFailed(f"there is no MCP tool {name}; check knowledge.tool and `hob mcp list`")
        spec = next(spec for spec in toolset.specs() if spec.name == name)
        takes = spec.schema.get("properties") or {}
        arguments: dict[str, Any] = {next((each for each in _QUERIES if each in takes), "query"): query}
        if count := next((each for each in _COUNTS if each in takes), ""):
            arguments[count] = maximum
        turn = Turn(TurnId("knowledge"), SessionKey(OWNER), new_trace_id(), new_span_id(), ())
        async with asyncio.timeout(self._settings.seconds):
            result = await toolset.call(ToolCall(CallId("knowledge"), name, json.dumps(arguments)), CallContext(turn))
        if result.is_error:
            raise SourceFailed(f"{name} failed: {result.text[:200]}")
        answer = parse_json(result.text)
        told = [{"id": name, "text": result.text}] if answer is None else answer
        return tuple(found_in(told, Origin.MCP))[:maximum]


def found_in(answer: Any, origin: Origin) -> Iterator[Memory]:
    """Return the results that name their source, labelled as its claims."""
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in _LISTS if isinstance(answer.get(name), list)), None)
    if not isinstance(answer, list):
        raise SourceFailed("the knowledge engine answered with no list of results")
    for each in answer:
        if not isinstance(each, Mapping):
            continue
        text, id = _first(each, _TEXTS), _first(each, _IDS)[:_LONGEST_ID]
        if not text or not id:
            continue
        title, score = _first(each, ("title",)), each.get("score")
        yield Memory(
            (f"{title}: {text}" if title else text)[:_LONGEST],
            f"knowledge:{id}",
            Label(origin, Trust.UNTRUSTED),
            _moment(_first(each, _TIMES)),
            float(score) if isinstance(score, int | float) else 1.0,
        )


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = next((value[name] for name in names if isinstance(value.get(name), str | int | float)), "")
    return " ".join(str(found).replace("\0", "\ufffd").split())


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
