"""All browsers of Hob: one per session, each with a profile that is deleted when it closes.

Quick to import, because the library is loaded when the first browser starts.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

from hob.core.errors import NotFound, NotReady, ToolFailed
from hob.core.ids import SessionKey
from hob.core.lazy import Lazy
from hob.core.libraries import install_command
from hob.core.ports.processes import ProcessRecords
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.browser.detection import EXTRA, find_program, is_library_there
from hob.tools.browser.settings import BrowserSettings
from hob.tools.sandbox.environment_variables import SYSTEM_PATH, shared_environ
from hob.tools.sandbox.network.hosts import HostDecision, HostDecisionCallback, HostRules
from hob.tools.sandbox.network.proxy import INTERNET, Internet

OWNER = "owner"
"""The permanent profile, which holds the owner's logins."""

MAX_BROWSERS = 3
IDLE_SECONDS = 600.0
_OWNERS_SECONDS = 3600.0  # time for the owner to log in
_MAX_NOTED = 500  # hosts per browser, because a page may make up host names without end
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
_OF_SCREENS = (*_SCREENS, "XAUTHORITY", "XDG_RUNTIME_DIR")


@Lazy
def _windows() -> ModuleType:
    from hob.tools.browser import window

    return window


def ignore_host_decision(_session: SessionKey, _decision: HostDecision) -> None:
    """Ignore the decision."""


@dataclass(slots=True)
class _Browser:
    """The browser of a session. An empty `profile` is temporary. `taken` means that the owner has taken it over."""

    profile: str = ""
    folder: Path = Path()
    window: Any = None
    used: float = 0.0
    taken: bool = False
    noted: set[tuple[str, int, bool]] = field(default_factory=set)
    """Hosts already reported as reached or refused."""
    idle: asyncio.Task[None] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def open(self) -> bool:
        return self.window is not None and not self.window.ended


class Browsers:
    """Starts, lends and closes browsers. A browser that was idle for `idle` seconds is closed by a task of `tasks`."""

    def __init__(
        self,
        folder: Path,
        settings: BrowserSettings,
        environ: Mapping[str, str],
        records: ProcessRecords,
        tasks: asyncio.TaskGroup,
        *,
        idle: float = IDLE_SECONDS,
        internet: Internet = INTERNET,
        decided: Callable[[SessionKey, HostDecision], None] = ignore_host_decision,
    ) -> None:
        """`folder` holds the profiles. Changed `settings` apply to browsers started later.

        `decided` is called once for each host that a session's browser reaches or is refused, except while the owner
        acts in it.
        """
        self._decided = decided
        self.settings = settings
        self._folder = folder
        self._environ = environ
        self._records = records
        self._tasks = tasks
        self._seconds = idle
        self._internet = internet
        self._browsers: dict[SessionKey, _Browser] = {}
        self._driver: Any = None
        self._starting = asyncio.Lock()

    @asynccontextmanager
    async def using(self, session: SessionKey, profile: str | None = None) -> AsyncIterator[Any]:
        """Lend the session's window exclusively for the block, starting it if needed. Raises ToolFailed.

        With a `profile`, a browser with another profile is restarted.
        """
        browser = self._browsers.setdefault(session, _Browser())
        async with browser.lock:
            if browser.taken and browser.open:
                raise ToolFailed(
                    "the owner acts in the browser now. End your turn, and go on when they have written /browser back"
                )
            if browser.taken:  # closing the window gives it back
                await self._move(session, browser, taken=False)
            if browser.open and profile is not None and profile != browser.profile:
                await self._close(browser)
            if not browser.open:
                await self._start(session, browser, profile or "")
            browser.used = asyncio.get_running_loop().time()
            try:
                yield browser.window
            finally:
                browser.used = asyncio.get_running_loop().time()

    def state_of(self, session: SessionKey) -> str:
        """Describe the browser: closed, open or taken, and its profile."""
        browser = self._browsers.get(session)
        if browser is None or not browser.open:
            return translatable("closed")
        if browser.taken:
            return translatable("its owner acts in it")
        if browser.profile:
            return translatable("open, with the owner's profile")
        return translatable("open, with a profile of this conversation")

    async def stop(self, session: SessionKey) -> bool:
        """Close the session's browser. Returns False if none is open."""
        browser = self._browsers.get(session)
        if browser is None or not browser.open:
            return False
        async with browser.lock:
            await self._close(browser)
        return True

    async def take(self, session: SessionKey) -> None:
        """Show the browser to its owner and stop Hob from acting in it.

        Raises NotFound if no browser is open, NotReady if there is no screen or Chromium does not start.
        """
        if not any(self._environ.get(name) for name in _SCREENS):
            raise NotReady(translatable("There is no display here: the browser cannot be shown."))
        browser = self._open_one(session)
        async with browser.lock:
            await self._move(session, browser, taken=True)

    async def picture(self, html: str, *, scripts: bool) -> bytes:
        """Render one of Hob's own pages as JPEG, in a browser started for it. Raises ToolFailed."""
        session = SessionKey("canvas")
        try:
            async with self.using(session) as window:
                data: bytes = await window.picture(html, scripts=scripts)
                return data
        except _windows().Error as error:
            raise ToolFailed(f"the page cannot be pictured: {' '.join(str(error).split())[:300]}") from error
        finally:
            await self.stop(session)

    async def give_back(self, session: SessionKey) -> None:
        """Return the browser to Hob. Raises NotFound, NotReady."""
        browser = self._browsers.get(session)
        if browser is None or not browser.taken:
            raise NotFound(translatable("You have not taken the browser of this conversation."))
        async with browser.lock:
            await self._move(session, browser, taken=False)

    def view(self) -> Mapping[str, Any]:
        """Return the number of open browsers for `hob status`."""
        count = sum(each.open for each in self._browsers.values())
        return {"browsers": count} if count else {}

    async def close(self) -> None:
        """Close all browsers."""
        for browser in self._browsers.values():
            await self._close(browser)
        if self._driver is not None:
            await self._driver.stop()

    def _open_one(self, session: SessionKey) -> _Browser:
        browser = self._browsers.get(session)
        if browser is None or not browser.open:
            raise NotFound(translatable("No browser is open in this conversation."))
        return browser

    async def _start(self, session: SessionKey, browser: _Browser, profile: str) -> None:
        if profile and any(each.open and each.profile == profile for each in self._browsers.values()):
            raise ToolFailed("the owner's profile is open in another conversation")
        await self._close(browser)
        await self._make_room(browser)
        browser.profile = profile
        browser.folder = await asyncio.to_thread(self._make_folder, profile)
        try:
            browser.window = await self._open_window(browser.folder, partial(self._note_host, session, browser))
        except NotReady as error:
            await self._close(browser)
            raise ToolFailed(str(error)) from error
        self._note(browser)
        browser.idle = self._tasks.create_task(self._close_when_idle(browser))

    def _make_folder(self, profile: str) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not profile:
            return Path(mkdtemp(dir=self._folder, prefix="session-"))
        folder = self._folder / profile
        folder.mkdir(mode=0o700, exist_ok=True)
        for lock in (folder / "profile").glob("Singleton*"):  # left by a killed process, since a home has only one Hob
            lock.unlink()
        return folder

    def _note_host(self, session: SessionKey, browser: _Browser, decision: HostDecision) -> None:
        place = (decision.host, decision.port, decision.allowed)
        if not browser.taken and place not in browser.noted and len(browser.noted) < _MAX_NOTED:
            browser.noted.add(place)
            self._decided(session, decision)

    async def _open_window(self, folder: Path, decided: HostDecisionCallback, *, taken: bool = False) -> Any:
        """Start a window. Raises NotReady with the next step."""
        if not is_library_there():
            raise NotReady(f"the browser needs a library: {install_command(EXTRA)}")
        path = self._environ.get("PATH", "") or SYSTEM_PATH
        if not (found := find_program(self.settings.program, path)):
            raise NotReady(
                "Chromium is not installed: install the package chromium, or set browser.program to its path"
            )
        windows = await asyncio.to_thread(_windows)
        environ = {**shared_environ(self._environ, ()), "PATH": path}
        if taken:
            environ |= {name: self._environ[name] for name in _OF_SCREENS if name in self._environ}
        program = windows.Program(
            found, environ, HostRules(self.settings.hosts, addresses=True), self._internet, decided
        )
        try:
            async with self._starting:
                self._driver = self._driver or await windows.start_driver()
            window = windows.BrowserWindow(watched=not taken)
            return await window.open(self._driver, program, folder / "profile", headed=taken)
        except (windows.Error, OSError) as error:
            told = " ".join(str(error).split())
            if "no-sandbox" in told:
                told = "with its sandbox it does not run as root; run Hob as another user"
            raise NotReady(f"Chromium ({found}) did not start: {told[:500]}") from error

    async def _make_room(self, browser: _Browser) -> None:
        others = [each for each in self._browsers.values() if each.open and each is not browser]
        if len(others) < MAX_BROWSERS:
            return
        free = [each for each in others if not each.taken and not each.lock.locked()]
        if not free:
            raise ToolFailed(f"{MAX_BROWSERS} browsers are at work already; try again later")
        await self._close(min(free, key=lambda each: each.used))

    async def _move(self, session: SessionKey, browser: _Browser, *, taken: bool) -> None:
        """Reopen the profile and its pages in another kind of window. Unsent input is lost."""
        state: Mapping[str, Any] = {"cookies": []}
        with suppress(_windows().Error):  # the owner closed it
            state = await browser.window.context.storage_state()
        addresses: Sequence[str] = [page.url for page in browser.window.tabs.values()]
        self._records.remove(browser.window.pid)
        await browser.window.close()
        browser.taken = browser.taken or taken
        decided = partial(self._note_host, session, browser)
        browser.window, browser.taken = await self._open_window(browser.folder, decided, taken=taken), taken
        self._note(browser)
        browser.used = asyncio.get_running_loop().time()
        await browser.window.context.add_cookies(state["cookies"])  # session cookies would be lost with the window
        for number, address in enumerate(each for each in addresses if each.startswith("http")):
            page = await browser.window.new_tab() if number else next(iter(browser.window.tabs.values()))
            with suppress(_windows().Error):
                await page.goto(address, wait_until="commit")

    def _note(self, browser: _Browser) -> None:
        temporary = None if browser.profile else browser.folder
        self._records.add(browser.window.pid, temporary)

    async def _close(self, browser: _Browser) -> None:
        window, folder, profile = browser.window, browser.folder, browser.profile
        browser.window, browser.folder, browser.taken, browser.noted = None, Path(), False, set()
        if browser.idle is not None and browser.idle is not asyncio.current_task():
            browser.idle.cancel()
        browser.idle = None
        async with AsyncExitStack() as stack:
            if folder.is_absolute() and not profile:
                stack.push_async_callback(asyncio.to_thread, shutil.rmtree, folder, True)
            if window is not None:
                stack.callback(self._records.remove, window.pid)
                await window.close()

    async def _close_when_idle(self, browser: _Browser) -> None:
        loop = asyncio.get_running_loop()
        while browser.window is not None:
            seconds = _OWNERS_SECONDS if browser.taken else self._seconds
            if (left := browser.used + seconds - loop.time()) > 0:
                await asyncio.sleep(left)
                continue
            async with browser.lock:
                if browser.used + seconds <= loop.time():
                    await self._close(browser)
