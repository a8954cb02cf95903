"""The actions of the browser tool in a window: opening, reading and operating pages by snapshot references."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

from playwright.async_api import Download, ElementHandle, Error, Frame, Locator, Page
from playwright.async_api import TimeoutError as TookTooLong

from hob.core.content.images import Image
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ports.tools import Blobs
from hob.core.values import dataclass
from hob.tools.browser.proxy import MAX_BYTES, MAX_OF_DOWNLOAD
from hob.tools.browser.window import BrowserWindow
from hob.tools.filesystem.paths import Roots
from hob.tools.filesystem.whole_files import free_name, read_whole, write_new
from hob.tools.registry.declaration import ToolOutput
from hob.tools.web.addresses import web_address

_LOAD_SECONDS, _ACT_SECONDS, _LOOK_SECONDS, _DOWNLOAD_SECONDS = 25.0, 10.0, 12.0, 45.0
_FIND_SECONDS = 1.0  # elements of a snapshot exist at once or not at all
_SETTLES = 0.3  # seconds until the first effects of an action show
_MAX_FILE = 50_000_000
_MAX_AFTER = 8_000  # characters of a page shown after an action
_MAX_VALUE, _LONGEST_WAIT, _TALLEST = 8_000, 20.0, 6_000
_REF = re.compile(r"(?:f\d+)?e\d+")
_REFUSED = "Refused by the sandbox: "  # prefix of the proxy's refusals
_NAME = re.compile(r"[^\w.()+-]+")
_PASSWORDS = "() => [...document.querySelectorAll('input[type=password]')].map(e => e.value).filter(v => v)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserRequest:
    """The arguments of a call."""

    action: str
    kind: str = ""
    url: str = ""
    page: str = ""
    ref: str = ""
    to: str = ""
    text: str = ""
    fields: Sequence[str] = ()
    script: str = ""
    path: str = ""
    tab: int = 0
    seconds: float = 0.0
    width: int = 0
    height: int = 0
    accept: bool = True
    full: bool = False


class Actions:
    """Performs calls in a window. `most` limits the characters of a result."""

    def __init__(
        self, window: BrowserWindow, request: BrowserRequest, roots: Callable[[], Roots], blobs: Blobs, maximum: int
    ) -> None:
        self._window = window
        self._request = request
        self._roots = roots
        self._blobs = blobs
        self._maximum = maximum

    async def perform(self) -> ToolOutput:
        """Perform the requested action. Raises ToolFailed and ToolRefused with advice."""
        do = getattr(self, f"_{self._request.action}")
        try:
            output: ToolOutput = await do()
        except TookTooLong as error:
            told = f"the page did not come to it in time: {_first_line(error)}; snapshot shows how it is"
            raise ToolFailed(self._noted(told)) from error
        except Error as error:
            raise ToolFailed(self._noted(_first_line(error))) from error
        return ToolOutput(self._noted(output.text), is_error=output.is_error, images=output.images)

    def _noted(self, text: str) -> str:
        return "\n".join([text, *(f"[{note}]" for note in self._window.take_notes())])

    # pages

    async def _tabs(self) -> ToolOutput:
        lines = [await self._line(number) for number in self._window.tabs]
        return ToolOutput("\n".join(lines) or "no tab is open")

    async def _open(self) -> ToolOutput:
        url = web_address(self._request.url)
        await self._window.new_tab()
        return await self._go(url)

    async def _navigate(self) -> ToolOutput:
        url = web_address(self._request.url)
        await self._tab()
        return await self._go(url)

    async def _focus(self) -> ToolOutput:
        page = await self._tab()
        await page.bring_to_front()
        return await self._shown(page, _MAX_AFTER)

    async def _close(self) -> ToolOutput:
        page, window = await self._tab(), self._window
        if len(window.tabs) == 1:  # Chromium may exit without tabs
            try:
                await page.goto("about:blank")
            except Error:  # another navigation superseded this one
                await page.wait_for_url("about:blank", timeout=_ACT_SECONDS * 1000)
            return ToolOutput("no page is open")
        try:
            await _in_time(page.close(), _ACT_SECONDS)
        except TimeoutError:
            window.forget(window.current)
        return await self._tabs()

    async def _go(self, url: str) -> ToolOutput:
        page = await self._tab()
        late = ""
        try:
            await page.goto(url, wait_until="domcontentloaded", timeout=_LOAD_SECONDS * 1000)
        except TookTooLong:
            late = f"[the page was still loading after {_LOAD_SECONDS:g} s, and was stopped]"
            await _stop(page)
        except Error as error:
            self._check_reached(url, page)
            raise ToolFailed(self._noted(f"{_host(url)} cannot be shown: {_first_line(error)}")) from error
        self._check_reached(url, page)
        if (said := await _first_words(page)).startswith(_REFUSED):
            why = said.removeprefix(_REFUSED).strip().rstrip(".")
            raise ToolRefused(f"{why}; addresses are written as names, those of the owner's own hosts in browser.hosts")
        shown = await self._shown(page, self._maximum)
        return ToolOutput("\n".join(filter(None, (shown.text, late))), is_error=shown.is_error)

    def _check_reached(self, url: str, page: Page) -> None:
        for host in dict.fromkeys((_host(url), _host(page.url))):
            if why := self._window.refusal_of(host):
                raise ToolRefused(f"{why}; the owner can name hosts of their own in browser.hosts")

    # snapshots, screenshots and text

    async def _snapshot(self) -> ToolOutput:
        return await self._shown(await self._tab(), self._maximum)

    async def _screenshot(self) -> ToolOutput:
        page, asked = await self._tab(), self._request
        if asked.ref:
            data = await self._element().screenshot(type="jpeg", quality=70, timeout=_ACT_SECONDS * 1000)
        else:
            tall = await page.evaluate("() => document.documentElement.scrollHeight") if asked.full else 0
            size = page.viewport_size or {"width": 1280, "height": 800}
            height = min(max(int(tall), size["height"]), _TALLEST)
            clip: Any = {"x": 0, "y": 0, "width": size["width"], "height": height} if asked.full else None
            data = await page.screenshot(
                type="jpeg", quality=70, full_page=asked.full, clip=clip, timeout=_ACT_SECONDS * 1000
            )
        blob = await self._blobs.put(data, "image/jpeg")
        told = f"{await self._line(self._window.current)}\nblob:{blob}: {len(data):,} bytes"
        return ToolOutput(told, images=(Image(blob, "image/jpeg"),))

    async def _console(self) -> ToolOutput:
        await self._tab()
        lines = [*self._window.console]
        return ToolOutput("\n".join(lines)[-self._maximum :] or "the console is empty")

    async def _pdf(self) -> ToolOutput:
        page = await self._tab()
        name = self._request.path or f"{_NAME.sub('-', await page.title() or 'page')[:60]}.pdf"
        return ToolOutput(await self._keep(name, await page.pdf(print_background=True)))

    # actions on elements

    async def _act(self) -> ToolOutput:
        page, asked = await self._tab(), self._request
        done = ""
        match asked.kind:
            case "close":
                return await self._close()
            case "resize":
                await page.set_viewport_size({"width": _side(asked.width), "height": _side(asked.height)})
            case "wait":
                await self._wait(page)
            case "evaluate":
                self._check_page(page.main_frame)
                value = await _in_time(page.evaluate(asked.script), _LOOK_SECONDS)
                done = json.dumps(value, ensure_ascii=False, default=str)[:_MAX_VALUE]
            case "fill":
                for ref, text in map(_field, asked.fields):
                    await (await self._own(ref)).fill(text, timeout=_ACT_SECONDS * 1000)
            case "press" if not asked.ref:
                self._check_page(page.main_frame)
                await page.keyboard.press(asked.text)
            case kind:
                await self._use(kind)
        await _settle(page)
        shown = await self._shown(await self._tab(), _MAX_AFTER)
        return ToolOutput("\n".join(filter(None, (done, shown.text))), is_error=shown.is_error)

    async def _use(self, kind: str) -> None:
        """Perform an action on one element."""
        asked, timeout = self._request, _ACT_SECONDS * 1000
        element = await self._own(asked.ref)
        match kind:
            case "click":
                await element.click(timeout=timeout)
            case "type":
                await element.fill(asked.text, timeout=timeout)
            case "press":
                await element.press(asked.text, timeout=timeout)
            case "hover":
                await element.hover(timeout=timeout)
            case "select":
                await element.select_option([*asked.fields] or asked.text, timeout=timeout)
            case "drag":
                await self._own(asked.to)
                await self._element().drag_to(self._element(asked.to), timeout=timeout)
            case _:
                raise ToolFailed("act needs a kind: click, type, press, hover, drag, select, fill, resize, wait, ...")

    async def _wait(self, page: Page) -> None:
        seconds = min(self._request.seconds or _ACT_SECONDS, _LONGEST_WAIT)
        if self._request.text:
            await page.get_by_text(self._request.text).first.wait_for(timeout=seconds * 1000)
        else:
            await asyncio.sleep(seconds)

    async def _upload(self) -> ToolOutput:
        roots = await asyncio.to_thread(self._roots)
        data = await asyncio.to_thread(read_whole, roots, self._request.path, _MAX_FILE)
        element = await self._own(self._request.ref)
        kind = detect_media_type(data[:HEAD_BYTES])
        name = self._request.path.rpartition("/")[2]
        await element.set_input_files({"name": name, "mimeType": kind, "buffer": data}, timeout=_ACT_SECONDS * 1000)
        return await self._shown(await self._tab(), _MAX_AFTER)

    async def _dialog(self) -> ToolOutput:
        self._check_page((await self._tab()).main_frame)
        self._window.answer = (self._request.accept, self._request.text)
        done = "accepted" if self._request.accept else "dismissed"
        return ToolOutput(f"the next dialog will be {done}; now do what opens it")

    async def _download(self) -> ToolOutput:
        element = await self._own(self._request.ref)
        window = self._window
        window.awaited = asyncio.get_running_loop().create_future()
        window.proxy.maximum = MAX_OF_DOWNLOAD
        try:
            await element.click(timeout=_ACT_SECONDS * 1000)
            async with asyncio.timeout(_DOWNLOAD_SECONDS):
                download = await window.awaited
                data = await self._fetched(download)
        except TimeoutError as error:
            raise ToolFailed("no file came in time: does this reference lead to one?") from error
        finally:
            window.awaited, window.proxy.maximum = None, MAX_BYTES
        name = self._request.path or _NAME.sub("-", download.suggested_filename).lstrip(".-")[:100] or "download"
        return ToolOutput(await self._keep(name, data))

    async def _fetched(self, download: Download) -> bytes:
        try:
            file = await download.path()
        except asyncio.CancelledError:
            await download.cancel()
            raise
        size = file.stat().st_size
        if size > _MAX_FILE:
            await download.delete()
            raise ToolFailed(f"the file has {size:,} bytes; at most {_MAX_FILE:,} are taken")
        data = await asyncio.to_thread(file.read_bytes)
        await download.delete()
        return data

    async def _keep(self, name: str, data: bytes) -> str:
        roots = await asyncio.to_thread(self._roots)
        name = self._request.path or await asyncio.to_thread(free_name, roots, name)
        await asyncio.to_thread(write_new, roots, name, data)
        return f"{name}: {len(data):,} bytes, {detect_media_type(data[:HEAD_BYTES])}"

    # tabs and elements

    async def _tab(self) -> Page:
        """Return the requested tab and make it current; without a request, return the current tab."""
        number = self._request.tab if self._request.tab in self._window.tabs else self._window.current
        if self._request.tab and number != self._request.tab:
            raise ToolFailed(f"there is no tab {self._request.tab}; {(await self._tabs()).text}")
        if number not in self._window.tabs:
            return await self._window.new_tab()
        self._window.current = number
        return self._window.tabs[number]

    def _element(self, ref: str = "") -> Locator:
        ref = ref or self._request.ref
        if not _REF.fullmatch(ref):
            raise ToolFailed(f"{ref[:40]!r} is no reference; snapshot gives them, as e12")
        return self._window.tabs[self._window.current].locator(f"aria-ref={ref}")

    async def _own(self, ref: str) -> ElementHandle:
        """Return the element, which must be in a document of the site that the call names."""
        try:
            found = await self._element(ref).element_handle(timeout=_FIND_SECONDS * 1000)
        except TookTooLong as error:
            raise ToolFailed(f"there is no {ref} (any more): take a snapshot") from error
        frame = await found.owner_frame()
        if frame is None:
            raise ToolFailed(f"there is no {ref} (any more): take a snapshot")
        self._check_page(frame)
        return found

    def _check_page(self, frame: Frame) -> None:
        """Check that the frame shows the site that the owner named or was asked about."""
        here = frame if frame.url.startswith("http") else frame.page.main_frame
        if _origin(self._request.page) != _origin(here.url):
            raise ToolFailed(f"page must be the address where this is: {here.url[:300]}")

    async def _shown(self, page: Page, maximum: int) -> ToolOutput:
        line = await self._line(self._window.current)
        try:
            text = await _in_time(page.aria_snapshot(mode="ai", timeout=_LOOK_SECONDS * 1000), _LOOK_SECONDS)
            text = _without(text, await _in_time(_passwords(page), _LOOK_SECONDS))
        except (TimeoutError, Error):
            return ToolOutput(f"{line}\nthe page does not answer; navigate elsewhere, or close the tab", is_error=True)
        maximum = max(maximum - len(line) - 1_500, 1_000)
        more = f"\n[{len(text) - maximum:,} more characters: snapshot a part by navigating, or screenshot]"
        return ToolOutput(f"{line}\n{text[:maximum]}{more if len(text) > maximum else ''}")

    async def _line(self, number: int) -> str:
        page = self._window.tabs.get(number)
        if page is None:
            return "no tab is open"
        title = ""
        with suppress(Error, TimeoutError):
            title = await _in_time(page.title(), 2.0)
        here = " (current)" if number == self._window.current else ""
        return f"tab {number}{here}: {page.url[:500]} {title[:200]!r}"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme, parts.netloc.lower()


def _field(text: str) -> tuple[str, str]:
    ref, equals, value = text.partition("=")
    if not equals:
        raise ToolFailed(f"a field is written REF=TEXT, as e5=Jane, not {text[:40]!r}")
    return ref.strip(), value


def _side(length: int) -> int:
    return min(max(length, 200), 4_000)


def _first_line(error: Error) -> str:
    return error.message.partition("\n")[0][:300]


def _without(text: str, passwords: Sequence[str]) -> str:
    """Replace the values of password fields in a snapshot with dots."""
    for each in passwords:
        text = text.replace(f": {json.dumps(each)}\n", ": ***\n").replace(f": {each}\n", ": ***\n")
    return text


async def _passwords(page: Page) -> Sequence[str]:
    found: list[str] = []
    for frame in page.frames:
        with suppress(Error):
            found += cast(list[str], await frame.evaluate(_PASSWORDS))
    return found


async def _first_words(page: Page) -> str:
    with suppress(Error, TimeoutError):
        script = "() => (document.body?.firstChild?.textContent || '').slice(0, 500)"
        return str(await _in_time(page.evaluate(script), 3.0))
    return ""


async def _stop(page: Page) -> None:
    with suppress(Error, TimeoutError):
        session = await page.context.new_cdp_session(page)
        await _in_time(session.send("Page.stopLoading"), 3.0)
        await session.detach()


async def _settle(page: Page) -> None:
    await asyncio.sleep(_SETTLES)
    with suppress(Error):
        await page.wait_for_load_state("domcontentloaded", timeout=_ACT_SECONDS * 1000)


async def _in_time(doing: Awaitable[Any], seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await doing
