"""A Chromium process with a profile of its own: tabs, proxy and events.

Chromium keeps its sandbox. Only the proxy resolves names; protocols that would bypass it (QUIC, WebRTC) are off.
"""

import asyncio
import json
import socket
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Download,
    Error,
    Frame,
    Page,
    Playwright,
    Route,
    async_playwright,
)

from hob.core.values import dataclass
from hob.tools.browser.proxy import BrowserProxy
from hob.tools.sandbox.network.hosts import HostDecision, HostDecisionCallback, HostRules
from hob.tools.sandbox.network.proxy import INTERNET, Internet

MAX_TABS = 8
_PICTURE_SECONDS = 10.0
_SEALED_AT = "http://canvas.invalid/"
_SEALED = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:;"
    " base-uri 'none'; form-action 'none'; webrtc 'block'"
)
_MAX_LINES, _LONGEST_LINE, _MAX_NOTES = 100, 500, 20
_SHOWN = ("http://", "https://", "about:blank", "about:srcdoc", "blob:http", "chrome-error:")
_START_SECONDS, _CLOSE_SECONDS = 30.0, 10.0
_FLAGS = (
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--proxy-bypass-list=<-loopback>",
)
_PREFERENCES = {
    "autofill": {"profile_enabled": False, "credit_card_enabled": False},
    "credentials_enable_service": False,
    "profile": {"password_manager_enabled": False},
    "safebrowsing": {"enabled": False},
    "search": {"suggest_enabled": False},
    "webrtc": {"ip_handling_policy": "disable_non_proxied_udp"},
}
SIZE = (1280, 800)


@dataclass(frozen=True, slots=True)
class Program:
    """Parameters for starting browsers: the program, its environment, and the local hosts open to it."""

    path: str
    environ: Mapping[str, str]
    local: HostRules
    internet: Internet = INTERNET
    decided: HostDecisionCallback = lambda _: None
    """Called for every connection."""


class BrowserWindow:
    """A window's numbered tabs and noteworthy events. `watched` means that Hob uses it, not its owner."""

    def __init__(self, *, watched: bool) -> None:
        self.tabs: dict[int, Page] = {}
        self.current = 0
        self.pid = 0
        self.console: deque[str] = deque(maxlen=_MAX_LINES)
        self.answer: tuple[bool, str] | None = None
        """The answer to the next dialog: whether to accept it, and the text."""
        self.awaited: asyncio.Future[Download] | None = None
        """The expected download. All others are refused."""
        self._watched = watched
        self._notes: deque[str] = deque(maxlen=_MAX_NOTES)
        self._refused: list[HostDecision] = []
        self._numbers = 0
        self._ended = False
        self.proxy: BrowserProxy
        self.context: BrowserContext

    @property
    def ended(self) -> bool:
        """Return whether Chromium has exited."""
        return self._ended

    def take_notes(self) -> list[str]:
        """Return the events since the last call."""
        found = [*self._notes, *(f"refused: {each.reason}" for each in self._refused[:_MAX_NOTES])]
        self._notes.clear()
        self._refused.clear()
        return list(dict.fromkeys(found))

    def refusal_of(self, host: str) -> str:
        """Return why this host was refused; empty if it was not."""
        return next((each.reason for each in self._refused if each.host == host), "")

    async def open(
        self, playwright: Playwright, program: Program, profile: Path, *, headed: bool = False
    ) -> "BrowserWindow":
        """Start Chromium with this profile. Raises the library's Error."""
        await asyncio.to_thread(_settle_profile, profile)
        listening = socket.create_server(("127.0.0.1", 0))
        self._noted = program.decided
        self.proxy = BrowserProxy(program.local, self._decided, program.internet)
        await self.proxy.serve(listening)
        try:
            self.context = await playwright.chromium.launch_persistent_context(
                profile,
                executable_path=program.path,
                headless=not headed,
                chromium_sandbox=True,
                args=[*_FLAGS, f"--proxy-server=http://127.0.0.1:{listening.getsockname()[1]}"],
                ignore_default_args=["--disable-popup-blocking"],
                env={**program.environ, "HOME": str(profile)},
                downloads_path=profile.parent / "downloads",
                no_viewport=headed,
                viewport=None if headed else {"width": SIZE[0], "height": SIZE[1]},
                timeout=_START_SECONDS * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except BaseException:
            self.proxy.close()
            raise
        self.context.on("close", self._closed)
        for page in self.context.pages:
            await self._opened(page)
        self.context.on("page", self._opened)
        self.pid = await _pid_of(self.context)
        return self

    async def close(self) -> None:
        """Close the browser."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.context.close()
        self.proxy.close()
        self._ended = True

    async def picture(self, html: str, *, scripts: bool) -> bytes:
        """Render a page as JPEG without network or origin. Raises the library's Error."""
        script = "'unsafe-inline' 'unsafe-eval'" if scripts else "'none'"
        policy = f"sandbox {'allow-scripts' if scripts else ''}; script-src {script}; {_SEALED}"

        async def answer(route: Route) -> None:
            if route.request.url != _SEALED_AT:
                await route.abort()
                return
            headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": policy}
            await route.fulfill(body=html, headers=headers)

        page = await self.new_tab()
        await page.route("**/*", answer)
        await page.goto(_SEALED_AT, wait_until="load", timeout=_PICTURE_SECONDS * 1000)
        return await page.screenshot(type="jpeg", quality=70, timeout=_PICTURE_SECONDS * 1000)

    async def new_tab(self) -> Page:
        """Open an empty tab and make it current."""
        page = await self.context.new_page()
        number = next((number for number, each in self.tabs.items() if each == page), 0)
        self.current = number or self.current
        return page

    def _closed(self, _context: BrowserContext) -> None:
        self._ended = True

    def _decided(self, decision: HostDecision) -> None:
        self._noted(decision)
        if self._watched and not decision.allowed and len(self._refused) < _MAX_LINES:
            self._refused.append(decision)

    async def _opened(self, page: Page) -> None:
        if not self._watched:
            self._numbers += 1
            self.tabs[self._numbers] = page
            return
        if len(self.tabs) >= MAX_TABS:
            self._notes.append(f"a page wanted another tab, and {MAX_TABS} are open at most")
            with suppress(Error):
                await page.close()
            return
        self._numbers += 1
        number = self._numbers
        self.tabs[number] = page
        if not self.current:
            self.current = number
        else:
            self._notes.append(f"tab {number} was opened")
        page.on("close", lambda _: self.forget(number))
        page.on("crash", lambda _: self._notes.append(f"the page in tab {number} has crashed"))
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.console.append(f"error: {str(error)[:_LONGEST_LINE]}"))
        page.on("dialog", self._asked)
        page.on("download", self._offered)
        page.on("framenavigated", self._moved)

    def forget(self, number: int) -> None:
        """Remove a tab that is closed or does not respond."""
        self.tabs.pop(number, None)
        if self.current == number:
            self.current = next(iter(self.tabs), 0)

    def _said(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text[:_LONGEST_LINE]}")

    async def _asked(self, dialog: Dialog) -> None:
        accept, text = self.answer or (dialog.type == "beforeunload", "")
        self.answer = None
        done = "accepted" if accept else "dismissed"
        self._notes.append(f"a dialog ({dialog.type}) was {done}: {dialog.message[:_LONGEST_LINE]!r}")
        with suppress(Error):
            await (dialog.accept(text) if accept else dialog.dismiss())

    async def _offered(self, download: Download) -> None:
        if self.awaited is not None and not self.awaited.done():
            self.awaited.set_result(download)
            return
        name = download.suggested_filename[:100]
        self._notes.append(f"the page offered the file {name!r}, which was not taken; action download takes one")
        with suppress(Error):
            await download.cancel()

    async def _moved(self, frame: Frame) -> None:
        """Close pages that navigate to anything but web pages."""
        if frame.parent_frame is None and frame.url and not frame.url.startswith(_SHOWN):
            self._notes.append(f"the page led to {frame.url[:100]}, which is no page of the web")
            with suppress(Error):
                await frame.goto("about:blank")


def _settle_profile(profile: Path) -> None:
    """Configure a new profile: no requests to its vendor, no stored passwords, no connections that bypass the proxy."""
    file = profile / "Default" / "Preferences"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(_PREFERENCES), "utf-8")


async def _pid_of(context: BrowserContext) -> int:
    if context.browser is None:
        return 0
    session = await context.browser.new_browser_cdp_session()
    try:
        told: Mapping[str, Any] = await session.send("SystemInfo.getProcessInfo")
        return next((int(each["id"]) for each in told["processInfo"] if each["type"] == "browser"), 0)
    finally:
        await session.detach()


async def start_driver() -> Playwright:
    """Start the library's driver process."""
    return await async_playwright().start()
