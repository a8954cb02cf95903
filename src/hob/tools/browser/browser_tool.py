"""The tool `browser`. Effects depend on the action: reading fetches pages, operating them sends data out."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Annotated, Literal

from hob.core.errors import ToolFailed
from hob.core.lazy import Lazy
from hob.core.ports.tools import Blobs, CallContext
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.tools.browser.browsers import OWNER, Browsers
from hob.tools.browser.specs import BROWSER_TOOL
from hob.tools.registry.declaration import ToolOutput, Tools, implements
from hob.tools.registry.schemas import Bounds

_LABEL = Label(Origin.WEB, Trust.UNTRUSTED)

_Action = Literal[
    "start", "stop", "status", "profiles", "tabs", "open", "focus", "close", "navigate", "snapshot",
    "screenshot", "act", "console", "pdf", "upload", "dialog", "download",
]  # fmt: skip
_Kind = Literal[
    "", "click", "type", "press", "hover", "drag", "select", "fill", "resize", "wait", "evaluate", "close"
]  # fmt: skip


@Lazy
def _acting() -> ModuleType:
    from hob.tools.browser import actions

    return actions


class BrowserTool:
    """The tool, which acts in the browser of the call's session."""

    def __init__(self, browsers: Browsers, roots: Callable[[], object], blobs: Blobs) -> None:
        """`roots` returns the folders for uploads and downloads."""
        self.browsers = browsers
        self._roots = roots
        self._blobs = blobs
        self.toolset = Tools(self.browser)

    @implements(BROWSER_TOOL, _LABEL)
    async def browser(
        self,
        context: CallContext,
        action: _Action,
        kind: _Kind = "",
        url: str = "",
        page: str = "",
        ref: str = "",
        to: str = "",
        text: Annotated[str, Bounds(0, 20_000)] = "",
        fields: Sequence[str] = (),
        script: Annotated[str, Bounds(0, 20_000)] = "",
        path: str = "",
        tab: int = 0,
        seconds: float = 0.0,
        width: int = 0,
        height: int = 0,
        accept: bool = True,
        full: bool = False,
        profile: Literal["", "owner"] = "",
    ) -> ToolOutput:
        session = context.turn.session
        match action:
            case "stop":
                stopped = await self.browsers.stop(session)
                return _own("closed" if stopped else "no browser is open")
            case "status":
                return _own(self.browsers.state_of(session))
            case "profiles":
                return _own(f"(empty): this conversation's own, gone when it closes\n{OWNER}: the owner's, with logins")
            case "start":
                async with self.browsers.using(session, profile):
                    return _own(self.browsers.state_of(session))
        if profile:
            raise ToolFailed("a profile is chosen with action start")
        async with self.browsers.using(session) as window:
            asked = _acting().BrowserRequest(
                action=action, kind=kind, url=url, page=page, ref=ref, to=to, text=text, fields=fields, script=script,
                path=path, tab=tab, seconds=seconds, width=width, height=height, accept=accept, full=full,
            )  # fmt: skip
            output: ToolOutput = (
                await _acting().Actions(window, asked, self._roots, self._blobs, context.maximum).perform()
            )
            return output


def _own(text: str) -> ToolOutput:
    return ToolOutput(text, HOB_LABEL)
