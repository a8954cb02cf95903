"""Apps of servers: a page that belongs to a tool's result, shown like a canvas page whose author nobody knows.

An app speaks in messages with what shows it. A small script in the page stands there: it hands over the call with its
result, passes calls of the server's tools and what it wants to read of the server on to the dashboard, and refuses what
else an app may ask for: links, messages to the conversation, another size.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from hob.core.content.canvas import CanvasPage
from hob.core.turns import Turn

APPS = "io.modelcontextprotocol/ui"
"""The extension."""

MIME = "text/html;profile=mcp-app"
MAX_HTML = 2_000_000
"""Characters of a page, and of an answer to one."""

READ = "resources/read"
"""By what a page asks for something of its server's to read; as MCP calls it."""

_LONGEST_NAME = 60
_HEAD = re.compile(r"<head(\s[^>]*)?>|<html(\s[^>]*)?>|<!doctype[^>]*>", re.IGNORECASE)
_TITLE = re.compile(r"<title>([^<]{1,200})</title>", re.IGNORECASE)


def address_of(tool: Any) -> str:
    """The address of the page that belongs to a tool; empty where none does."""
    about = (tool.meta or {}).get("ui")
    found = about.get("resourceUri") if isinstance(about, Mapping) else None
    return found if isinstance(found, str) and found.startswith("ui://") else ""


def is_for(whom: Literal["app", "model"], tool: Any) -> bool:
    """Whether the server means this tool to be called by its app, or by the model; both where it says nothing."""
    about = (tool.meta or {}).get("ui")
    said = about.get("visibility") if isinstance(about, Mapping) else None
    return not isinstance(said, list) or whom in said


def html_of(read: Any) -> str:
    """The page among what was read; empty where there is none that may be shown."""
    texts = (getattr(each, "text", None) for each in read.contents if (each.mime_type or "").startswith("text/html"))
    return next((text for text in texts if text and len(text) <= MAX_HTML), "")


def page_of(server: str, tool: str, turn: Turn, html: str) -> CanvasPage:
    """The canvas page that shows it; its scripts are off, and call nothing, until the owner lets them run."""
    found = _TITLE.search(html)
    title = " ".join(found[1].split()) if found else ""
    return CanvasPage(turn.session, f"{server}: {tool}"[:_LONGEST_NAME], turn.id, title=title, server=server)


def hosted(html: str, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """The page with what hands it the call and its result."""
    told = json.dumps({"arguments": arguments, "result": result}, ensure_ascii=False).replace("<", "\\u003c")
    script = (files(__package__) / "app_host.html").read_text("utf-8").replace("told = {}", f"told = {told}", 1)
    places = {found[0][:5].lower(): found.end() for found in reversed([*_HEAD.finditer(html[:20_000])])}
    place = places.get("<head", places.get("<html", places.get("<!doc", 0)))
    return html[:place] + script + html[place:]
