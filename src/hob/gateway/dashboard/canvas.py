"""Canvas pages for the dashboard: their list, their content, and the frames that show them."""

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import NotRequired, TypedDict

from hob.core.content.canvas import CanvasPage
from hob.core.values import dataclass
from hob.gateway.dashboard.files import FRAMED, PackageFiles
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response
from hob.gateway.tools import PageCall, PageCallAnswer, ToolCatalog

_FOLDER = "canvas_frame"
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:;"
    " font-src data:; media-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self';"
    " webrtc 'block'"
)


def canvas_frames() -> Mapping[str, PackageFiles]:
    """Return the frames by path: one runs a page's scripts, the other only Hob's own."""
    (own,) = _SCRIPT.findall((files("hob.gateway") / _FOLDER / "index.html").read_text("utf-8"))
    sealed = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    scripts = {"/views/canvas/": "'unsafe-inline' 'unsafe-eval'", "/views/canvas-still/": f"'sha256-{sealed}'"}
    more = {"x-dns-prefetch-control": "off"}
    return {
        path: PackageFiles(
            "hob.gateway", _FOLDER, {**FRAMED, **more, "content-security-policy": _POLICY.format(scripts=each)}
        )
        for path, each in scripts.items()
    }


class CanvasPageAnswer(TypedDict):
    """One version of a canvas page.

    at: when it was presented (Unix seconds)
    scripts: whether its scripts run
    html: its content; untrusted
    versions: the stored versions, oldest first
    """

    id: str
    name: str
    title: str
    session: str
    version: int
    at: float
    scripts: bool
    hidden: bool
    html: NotRequired[str]
    versions: NotRequired[list[int]]


class CanvasPagesAnswer(TypedDict):
    """Canvas pages that are shown."""

    pages: list[CanvasPageAnswer]


@dataclass(frozen=True, slots=True)
class VersionQuery:
    """Selects a version of a page."""

    version: int = field("this one; 0: the newest", 0, at_least=0)


@dataclass(frozen=True, slots=True)
class CanvasChange:
    """A change to a page."""

    version: int = field("the version that is meant", at_least=1)
    hidden: bool = field("show it no more, in no version", False)
    scripts: bool = field("let the scripts of this version run", False)


async def pages(call: EndpointCall[Nothing]) -> JsonResponse[CanvasPagesAnswer]:
    """List the shown pages, the last presented first."""
    found = await call.api.store.canvas.pages()
    return etagged(call.request, {"pages": [_view(page) for page in found if not page.hidden]})


async def page(call: EndpointCall[VersionQuery]) -> JsonResponse[CanvasPageAnswer]:
    """Return one version of a page with its HTML, and the list of its versions."""
    kept = call.api.store.canvas
    found = await kept.find(call.id, call.payload.version)
    versions = [each.version for each in await kept.versions(call.id)]
    return etagged(call.request, {**_view(found), "html": await kept.html(found), "versions": versions})


async def change(call: EndpointCall[CanvasChange]) -> JsonResponse[CanvasPageAnswer]:
    """Hide a page, or let its scripts run."""
    kept, payload = call.api.store.canvas, call.payload
    found = await kept.find(call.id, payload.version)
    if payload.scripts:
        found = await kept.let_run(found)
    if payload.hidden:
        await kept.hide(found)
    return json_response(_view(await kept.find(call.id, payload.version)))


@dataclass(frozen=True, slots=True)
class AppCall:
    """A tool call made by an app's page."""

    version: int = field("the version of the page that calls", at_least=1)
    tool: str = field("the tool, as its server calls it, or `resources/read`", characters=(1, 200))
    arguments: str = field("its arguments as JSON", "{}", characters=(2, 200_000))
    confirmed: bool = field("do it where the policy asks the owner first", False)


async def call_tool(call: EndpointCall[AppCall]) -> JsonResponse[PageCallAnswer]:
    """Call a tool of the MCP server that the page belongs to, if the policy allows it.

    A call that needs approval runs only with `confirmed`, set by a person who has seen tool and arguments.
    """
    payload = call.payload
    wanted = PageCall(call.id, payload.version, payload.tool, payload.arguments, payload.confirmed)
    return json_response(await call.api.port(ToolCatalog).call_for_page(wanted))


def _view(page: CanvasPage) -> CanvasPageAnswer:
    return {
        "id": page.id,
        "name": page.name,
        "title": page.title or page.name,
        "session": page.session,
        "version": page.version,
        "at": page.at,
        "scripts": page.scripts,
        "hidden": page.hidden,
    }
