"""MCP Apps: pages that belong to tool results, shown like canvas pages of unknown authorship.

An app exchanges messages with its host. A small script inside the page acts as that host: it passes on the call and its
result, forwards tool calls and resource reads to the dashboard, and refuses all other requests of an app: opening
links, writing into the conversation, resizing.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from hob.core.content.canvas import CanvasPage
from hob.core.turns import Turn

APPS = "io.modelcontextprotocol/ui"
"""The identifier of the extension."""

MIME = "text/html;profile=mcp-app"
MAX_HTML = 2_000_000
"""Maximum characters of a page, and of an answer to a page."""

READ = "resources/read"
"""The MCP method by which a page reads a resource of its server."""

_LONGEST_NAME = 60
_HEAD = re.compile(r"<head(\s[^>]*)?>|<html(\s[^>]*)?>|<!doctype[^>]*>", re.IGNORECASE)
_TITLE = re.compile(r"<title>([^<]{1,200})</title>", re.IGNORECASE)


def address_of(tool: Any) -> str:
    """Return the URI of the page that belongs to a tool; empty if there is none."""
    about = (tool.meta or {}).get("ui")
    found = about.get("resourceUri") if isinstance(about, Mapping) else None
    return found if isinstance(found, str) and found.startswith("ui://") else ""


def is_for(whom: Literal["app", "model"], tool: Any) -> bool:
    """Return whether the server offers this tool to its app or to the model. A tool that does not say is for both."""
    about = (tool.meta or {}).get("ui")
    said = about.get("visibility") if isinstance(about, Mapping) else None
    return not isinstance(said, list) or whom in said


def html_of(read: Any) -> str:
    """Return the first HTML page of a resource; empty if none may be shown."""
    texts = (getattr(each, "text", None) for each in read.contents if (each.mime_type or "").startswith("text/html"))
    return next((text for text in texts if text and len(text) <= MAX_HTML), "")


def page_of(server: str, tool: str, turn: Turn, html: str) -> CanvasPage:
    """Create the canvas page for an app. Its scripts stay off until the owner allows them."""
    found = _TITLE.search(html)
    title = " ".join(found[1].split()) if found else ""
    return CanvasPage(turn.session, f"{server}: {tool}"[:_LONGEST_NAME], turn.id, title=title, server=server)


def hosted(html: str, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Insert the host script, with the call and its result, into a page."""
    told = json.dumps({"arguments": arguments, "result": result}, ensure_ascii=False).replace("<", "\\u003c")
    script = (files(__package__) / "app_host.html").read_text("utf-8").replace("told = {}", f"told = {told}", 1)
    places = {found[0][:5].lower(): found.end() for found in reversed([*_HEAD.finditer(html[:20_000])])}
    place = places.get("<head", places.get("<html", places.get("<!doc", 0)))
    return html[:place] + script + html[place:]
