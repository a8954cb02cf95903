"""Validation of web addresses. Calls with other addresses fail, regardless of approvals."""

import json
import re

from hob.core.errors import ToolRefused
from hob.core.tools import ToolCall
from hob.tools.web.specs import WEB_FETCH

_WEB = re.compile(r"https?://[^\s/]+", re.IGNORECASE)
_FILE = re.compile(r"file:|[/~]", re.IGNORECASE)
_OPENS = frozenset({"open", "navigate"})


def web_address(url: str) -> str:
    """Return the address. Raises ToolRefused if it is not a web address."""
    if not _WEB.match(url):
        file = "; the tool read shows files" if _FILE.match(url) else ""
        raise ToolRefused(f"{url[:200]!r} is no address of a web page; it begins with http:// or https://{file}")
    return url


def check_address(call: ToolCall) -> None:
    """Raise ToolRefused for a call whose address is not a web address."""
    if call.name not in ("browser", WEB_FETCH.name):
        return
    arguments = json.loads(call.arguments or "{}")
    if call.name == WEB_FETCH.name or arguments.get("action") in _OPENS:
        web_address(str(arguments.get("url") or ""))
