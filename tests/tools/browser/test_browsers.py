"""Browsers of sessions: separated, closed when idle, lent to the owner, ended with Hob."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest

from hob.app.daemon.process_records import RunningProcesses, start_time
from hob.core.errors import NotFound, NotReady
from hob.core.ids import SessionKey
from tests.tools.web.server import reply

from .browsing import Desk, open_desk
from .program import sandboxed_program

pytestmark = pytest.mark.slow

HERE = SessionKey("here")
COOKIE = "<script>document.write('cookie ' + (document.cookie || 'none'))</script>"


async def test_each_session_has_a_temporary_profile(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.web.pages["/in"] = reply(b"in", Set_Cookie="a=1")
        await desk.say(action="navigate", url=desk.web.url("/in"))
        assert "cookie a=1" in await desk.show(COOKIE)
        assert "cookie none" in await desk.show(COOKIE, session="there")
        assert len(desk.records.running) == len([*(tmp_path / "browser").iterdir()]) == 2
        assert await desk.say(action="stop") == "closed"
        assert len([*(tmp_path / "browser").iterdir()]) == 1
        assert "cookie none" in await desk.show(COOKIE)
    assert [*(tmp_path / "browser").iterdir()] == []
    assert not desk.records.running


async def test_owners_profile_persists_and_is_used_by_one_session_at_a_time(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.web.pages["/in"] = reply(b"in", Set_Cookie="a=1; Max-Age=9999")
        assert "open, with the owner's profile" in await desk.say(action="start", profile="owner")
        await desk.say(action="navigate", url=desk.web.url("/in"))
        assert "is open in another conversation" in await desk.say("there", action="start", profile="owner")
        await desk.say(action="stop")
        await desk.say("there", action="start", profile="owner")
        assert "cookie a=1" in await desk.show(COOKIE, session="there")
        assert "cookie none" in await desk.show(COOKIE)


async def test_idle_browser_is_closed(tmp_path: Path) -> None:
    async with open_desk(tmp_path, idle=0.2) as desk:
        await desk.show("<h1>Hello</h1>")
        async with asyncio.timeout(20):
            while desk.records.running or "closed" not in await desk.say(action="status"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "Hello" in await desk.show("<h1>Hello</h1>")


async def test_owner_takes_the_browser_over_and_returns_it_logged_in(tmp_path: Path) -> None:
    async with open_desk(tmp_path, "--headless", environ={"DISPLAY": ":9"}) as desk:
        desk.web.pages["/login"] = reply(b"<input type=text aria-label=Name><h1>Log in</h1>", Set_Cookie="a=1")
        await desk.show(COOKIE)
        await desk.browsers.take(HERE)
        told = await desk.say(action="snapshot")
        assert "the owner acts in the browser now" in told
        await _log_in(desk)
        await desk.browsers.give_back(HERE)
        shown = await desk.say(action="snapshot")
        assert "Log in" in shown
        assert "typed by hand" not in shown
        assert "said by the page" not in await desk.say(action="console")
        assert "cookie a=1" in await desk.show(COOKIE)
        with pytest.raises(NotFound):
            await desk.browsers.give_back(HERE)


async def _log_in(desk: Desk) -> None:
    """Act as the owner in the window."""
    window = desk.browsers._browsers[HERE].window
    (page,) = window.tabs.values()
    await page.goto(desk.web.url("/login"))
    await page.get_by_label("Name").fill("typed by hand")
    await page.evaluate("() => console.log('said by the page')")
    assert not window.console
    assert not window.take_notes()


async def test_closing_the_owners_window_returns_the_browser(tmp_path: Path) -> None:
    async with open_desk(tmp_path, "--headless", environ={"DISPLAY": ":9"}) as desk:
        await desk.show("<h1>Hello</h1>")
        await desk.browsers.take(HERE)
        await desk.browsers._browsers[HERE].window.context.close()
        assert "Again" in await desk.show("<h1>Again</h1>")


async def test_takeover_needs_a_display_and_an_open_browser(tmp_path: Path) -> None:
    async with open_desk(tmp_path, environ={"DISPLAY": "", "WAYLAND_DISPLAY": ""}) as desk:
        with pytest.raises(NotReady, match="There is no display here"):
            await desk.browsers.take(HERE)
    (tmp_path / "other").mkdir()
    async with open_desk(tmp_path / "other", environ={"DISPLAY": ":9"}) as desk:
        with pytest.raises(NotFound, match="No browser is open"):
            await desk.browsers.take(HERE)


async def test_missing_browser_is_reported_with_the_next_step(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.browsers.settings = type(desk.browsers.settings)(program="no-such-browser")
        assert "set browser.program to its path" in await desk.say(action="start")
        desk.browsers.settings = type(desk.browsers.settings)(program="/bin/false")
        assert "Chromium (/bin/false) did not start" in await desk.say(action="start")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
async def test_chromium_keeps_its_sandbox_and_refuses_to_run_as_root(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.browsers.settings = type(desk.browsers.settings)()
        assert "with its sandbox it does not run as root" in await desk.say(action="start")


def _tree_of(pid: int) -> list[int]:
    """Return a process and its descendants."""
    parents = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(each.parent.name)] = int(each.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for parent in found:
        found += [child for child, of in parents.items() if of == parent]
    return found


@pytest.mark.skipif(
    subprocess.run(["setpriv", "--reuid", "65534", "unshare", "-U", "true"], capture_output=True).returncode != 0
    if os.geteuid() == 0
    else sys.platform != "linux",
    reason="users other than root cannot create the namespaces of Chromium's sandbox here",
)
async def test_pages_run_in_chromiums_own_sandbox(tmp_path: Path) -> None:
    folder = Path(mkdtemp(dir="/tmp"))  # another user must be able to reach it
    try:
        async with open_desk(folder) as desk:
            desk.browsers.settings = type(desk.browsers.settings)(program=sandboxed_program(folder))
            assert "Hello" in await desk.show("<h1>Hello</h1>")
            tree = _tree_of(desk.browsers._browsers[HERE].window.pid)
            commands = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in tree}
            assert not any("--no-sandbox" in each for each in commands.values())
            renderers = [pid for pid, command in commands.items() if "--type=renderer" in command]
            assert renderers
            for pid in renderers:  # each is filtered by seccomp, and in a user namespace of its own
                assert "\nSeccomp:\t2\n" in Path(f"/proc/{pid}/status").read_text()
                assert Path(f"/proc/{pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
    finally:
        shutil.rmtree(folder)


RUNNING = """
import asyncio, sys
from pathlib import Path
from hob.app.daemon.process_records import RunningProcesses
from tests.tools.browser.browsing import open_desk
async def run(folder):
    async with open_desk(folder) as desk:
        desk.browsers._records = RunningProcesses(folder)
        await desk.show("<h1>Hello</h1>")
        print(desk.browsers._browsers["here"].window.pid, flush=True)
        await asyncio.sleep(999)
asyncio.run(run(Path(sys.argv[1])))
"""


def test_browser_does_not_outlive_a_killed_hob(tmp_path: Path) -> None:
    run = subprocess.Popen([sys.executable, "-c", RUNNING, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    pid = int(run.stdout.readline())
    assert start_time(pid)
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    RunningProcesses(tmp_path).reap()
    assert not start_time(pid)
    assert [*(tmp_path / "browser").iterdir()] == []


async def test_own_page_is_rendered_without_network_in_a_temporary_browser(tmp_path: Path) -> None:
    html = "<p>Red</p><script>fetch('{0}'); document.body.style.background = 'red'</script><img src='{0}'>"
    async with open_desk(tmp_path) as desk:
        html = html.format(desk.web.url("/", "site.example"))
        live = await desk.browsers.picture(html, scripts=True)
        still = await desk.browsers.picture(html, scripts=False)
        assert live.startswith(b"\xff\xd8")
        assert live != still
        assert (desk.web.heads, desk.records.running, desk.browsers.view()) == ([], set(), {})
