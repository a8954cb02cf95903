"""Specs of the web tools."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec

WEB_SEARCH = ToolSpec(
    name="web_search",
    description="Search the web: titles, addresses and snippets; web_fetch reads one of them.",
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "count": {"type": "integer"},
            "freshness": {"type": "string", "enum": ["", "day", "week", "month", "year"]},
            "language": {"type": "string", "description": "As de"},
            "country": {"type": "string", "description": "As at"},
        },
        "required": ["query"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES}),
    restart=Restart.AGAIN,
    parallel=True,
    timeout=45,
    output_cap=24_000,
    roles=ArgumentRole(plain=("query", "count", "freshness", "language", "country"), searches=True),
)
WEB_FETCH = ToolSpec(
    name="web_fetch",
    description="Read a web page, PDF or JSON at an address that the user or web_search gave; others need approval.",
    schema={
        "type": "object",
        "properties": {
            "url": {"type": "string"},
            "format": {"type": "string", "enum": ["markdown", "text"]},
            "offset": {"type": "integer", "description": "Characters to skip"},
            "max_chars": {"type": "integer"},
        },
        "required": ["url"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES}),
    restart=Restart.AGAIN,
    parallel=True,
    output_cap=24_000,
    roles=ArgumentRole(urls=("url",), plain=("format", "offset", "max_chars")),
)
