"""A day's work needs no question, except where one is right."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from hob.tools.mcp.accepted import save_accepted
from tests.guard.daily.tasks import SERVED, TASKS, browsed
from tests.guard.daily.world import Came, office
from tests.tools.browser.conftest import THERE
from tests.tools.browser.program import program
from tests.tools.web.server import WebServer, reply, web_server

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def table(came: list[Came]) -> str:
    """Format one line per task."""
    return "\n".join(
        f"{len(each.questions)} {len(each.results):2} {each.task.name} {', '.join(each.questions)}" for each in came
    )


def check(came: list[Came]) -> None:
    """Check that each task was done with the expected questions, at most one."""
    print(table(came))
    assert {each.task.name: each.refused for each in came if each.refused} == {}
    assert {each.task.name: each.wrong for each in came if each.wrong} == {}
    assert {each.task.name: each.questions for each in came if len(each.questions) != each.task.asks} == {}
    assert all(len(each.questions) <= 1 for each in came)


@pytest.mark.bubblewrap
@pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
async def test_work_with_an_mcp_server_needs_hardly_any_questions(home: Path) -> None:
    from tests.tools.mcp.reaching import accept, connected, ours  # only with the extra installed

    state, server = home / ".hob", ours()
    async with connected(state, server) as connection:
        save_accepted(state, await accept(connection))
    lines = f"command = {json.dumps(server.command)}\nread = {json.dumps(server.read)}\n"
    (state / "config.toml").write_text(f"[mcp.notes]\n{lines}")
    async with office(home) as at:
        check([await at.do(task) for task in SERVED])


LIBRARY = "<title>Library</title><h1>Opening hours</h1><table><tr><td>Saturday<td>10:00 to 16:00</table>"
TABLE = """<title>A table</title><form action=/done method=post><input name=name aria-label=Name>
<input name=people aria-label=People><input name=time aria-label=Time>
<textarea name=wishes aria-label=Wishes></textarea><button>Reserve</button></form>"""


@pytest.mark.skipif(not THERE, reason="Playwright or Chromium is not installed")
async def test_work_in_the_browser_needs_no_questions(home: Path) -> None:
    web = WebServer()
    web.pages |= {"/library": reply(LIBRARY.encode()), "/table": reply(TABLE.encode()), "/done": reply(b"Thank you.")}
    home.joinpath("hob").mkdir()
    settings = {"HOB_BROWSER_PROGRAM": program(home), "HOB_BROWSER_HOSTS": '["localhost"]'}
    async with web_server(web), office(home, **settings) as at:
        came = [await at.do(task) for task in browsed(f"localhost:{web.port}")]
    check(came)
    hours, reserved = came
    assert '"10:00 to 16:00"' in hours.results[-1]
    assert "Thank you." in reserved.results[-1]
    assert web.bodies == [b"name=Nora&people=4&time=19%3A30&wishes=we+bring+a+dog"]


@pytest.mark.bubblewrap
async def test_a_days_work_needs_hardly_any_questions(home: Path) -> None:
    async with office(home) as at:
        came = [await at.do(task) for task in TASKS]
    check(came)
    assert len(came) >= 60
    # 74 of 82: calendar entries in tainted turns persist, so two more tasks ask
    assert sum(not each.questions for each in came) >= 0.89 * len(came)
