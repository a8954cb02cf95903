"""The search provider port, and its HTTP requests."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Protocol

import httpx2

from hob.core.errors import ToolFailed
from hob.core.values import dataclass

SECONDS = 30.0

_TAG = re.compile(r"</?[a-zA-Z][^>]{0,200}>")


@dataclass(frozen=True, slots=True)
class WebQuery:
    """A search query. `freshness` is day, week, month, year or empty; `language` and `country` are two-letter codes or
    empty.
    """

    words: str
    count: int = 5
    freshness: str = ""
    language: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    title: str
    url: str
    snippet: str = ""
    age: str = ""


class SearchProvider(Protocol):
    """A web search service."""

    name: str

    async def search(self, query: WebQuery) -> tuple[Hit, ...]:
        """Return the results, best first. Raises ToolFailed."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A request to a provider."""

    method: str
    url: str
    params: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    json: Mapping[str, Any] | None = None


async def ask(name: str, request: SearchRequest) -> httpx2.Response:
    """Send the request and return a successful response. Raises ToolFailed with a message for the owner."""
    try:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            answer = await client.request(
                request.method, request.url, params=request.params, headers=request.headers, json=request.json
            )
    except (httpx2.HTTPError, OSError) as error:
        raise ToolFailed(
            f"the search provider {name} cannot be reached: {str(error) or type(error).__name__}"
        ) from error
    if answer.status_code in (401, 403):
        raise ToolFailed(
            f"the search provider {name} refused ({answer.status_code}); the owner can check web.search_key"
        )
    if answer.status_code == 429:
        raise ToolFailed(f"the search provider {name} takes no more requests for the moment; try again later")
    if not answer.is_success:
        raise ToolFailed(f"the search provider {name} failed with status {answer.status_code}")
    return answer


def read_hits(name: str, answer: httpx2.Response, *way: str) -> list[Mapping[str, Any]]:
    """Return the list at the path `way` of a JSON response; empty if it is missing. Raises ToolFailed for other
    responses.
    """
    try:
        value = answer.json()
    except ValueError as error:
        raise ToolFailed(f"the search provider {name} answered with something that is no JSON") from error
    for key in way:
        value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            return []
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def plain(text: object) -> str:
    """Return a text on one line, without markup."""
    return " ".join(unescape(_TAG.sub("", text)).split()) if isinstance(text, str) else ""
