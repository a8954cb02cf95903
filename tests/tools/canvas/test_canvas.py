"""`canvas`: pages are stored with versions, and queries go to a browser that shows them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hob.bus.canvas import CanvasViewers
from hob.core.content.canvas import CanvasAnswer
from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ports.tools import Toolset
from hob.core.tools import ToolResult
from hob.core.trust.labels import Trust
from hob.guard.policy.call_analysis import read_call
from hob.guard.policy.context import Sandbox
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.policy import Policy
from hob.guard.settings import PolicySettings
from hob.store.canvas import HIDDEN_SECONDS, MAX_PAGES, MAX_VERSIONS
from hob.store.store import Store
from hob.testing.memory_store import memory_store
from hob.tools.canvas.canvas import Canvas
from hob.tools.filesystem.paths import Root, Roots
from tests.guard.calling import PLACES, READER
from tests.guard.calling import context as judged
from tests.tools.calling import a_call, context

PAGE = "<!doctype html><title>Sales &amp; more</title><p>42</p><script>var n = 1</script>"
TAINTED = context()


async def made(toolset: Toolset, name: str, *, session: str = "here", **arguments: object) -> ToolResult:
    return await toolset.call(a_call(name, **arguments), replace(context(session), trust=Trust.TRUSTED))


async def text_of(toolset: Toolset, name: str, **arguments: object) -> str:
    return (await made(toolset, name, **arguments)).text  # type: ignore[arg-type]


class Drawn:
    """A renderer without a picture until it is given one."""

    def __init__(self) -> None:
        self.data: bytes | ToolFailed | None = None
        self.asked: list[tuple[str, bool]] = []

    async def picture(self, html: str, *, scripts: bool) -> bytes | None:
        self.asked.append((html, scripts))
        if isinstance(self.data, ToolFailed):
            raise self.data
        return self.data


@dataclass
class Made:
    tool: Canvas
    store: Store
    viewers: CanvasViewers
    drawn: Drawn

    async def present(self, html: str = PAGE, **more: object) -> str:
        return await text_of(self.tool.toolset, "canvas", action="present", html=html, **more)

    @asynccontextmanager
    async def browser(self, says: CanvasAnswer) -> AsyncIterator[list[str]]:
        """A browser that shows the newest page and gives one answer to every query."""
        (page, *_) = await self.store.canvas.pages()
        asked: list[str] = []

        async def answer() -> None:
            with self.viewers.showing(page.id, page.version) as questions:
                while True:
                    question = await questions.get()
                    asked.append(question.script)
                    self.viewers.answer(question.id, says)

        task = asyncio.create_task(answer())
        try:
            yield asked
        finally:
            task.cancel()


@pytest.fixture
async def canvas(tmp_path: Path) -> AsyncIterator[Made]:
    async with memory_store() as store:
        roots = Roots((Root("work", tmp_path),), base=tmp_path, home=tmp_path)
        viewers = CanvasViewers()
        drawn = Drawn()
        yield Made(Canvas(store.canvas, viewers, roots, store.blobs, drawn, 0.2), store, viewers, drawn)


async def test_page_is_stored_with_title_and_versions(canvas: Made) -> None:
    first = await canvas.present(page="sales")
    assert "sales is presented, version 1, /canvas/" in first
    assert "no browser shows it yet" in first
    assert "version 1," in await canvas.present(page="sales")  # repeated, as after a crash
    assert "version 2," in await canvas.present("<p>43</p>", page="sales")
    (page,) = await canvas.store.canvas.pages()
    assert (page.title, page.version, page.scripts) == ("", 2, True)
    assert (await canvas.store.canvas.find(page.id, 1)).title == "Sales & more"
    assert "version 3," in await text_of(canvas.tool.toolset, "canvas", action="present", page="sales", version=1)
    assert await canvas.store.canvas.html(await canvas.store.canvas.find(page.id)) == PAGE


async def test_hidden_page_can_be_shown_again(canvas: Made) -> None:
    await canvas.present()
    await made(canvas.tool.toolset, "canvas", action="hide")
    (page,) = await canvas.store.canvas.pages()
    assert page.hidden
    with pytest.raises(ToolFailed, match="hidden; present shows it again"):
        await made(canvas.tool.toolset, "canvas", action="snapshot")
    assert await canvas.store.retention.drop_expired_records(page.at + HIDDEN_SECONDS / 2) == 0
    await made(canvas.tool.toolset, "canvas", action="present")
    (page,) = await canvas.store.canvas.pages()
    assert not page.hidden
    await canvas.store.retention.drop_expired_records(page.at + HIDDEN_SECONDS * 2)
    assert [each.version for each in await canvas.store.canvas.versions(page.id)] == [2]


async def test_old_versions_and_pages_are_deleted(canvas: Made) -> None:
    for n in range(MAX_VERSIONS + 3):
        await canvas.present(f"<p>{n}</p>")
    (page,) = await canvas.store.canvas.pages()
    assert [each.version for each in await canvas.store.canvas.versions(page.id)] == list(range(4, MAX_VERSIONS + 4))
    for n in range(MAX_PAGES):
        await canvas.present(page=f"p{n}")
    assert len(await canvas.store.canvas.pages()) == MAX_PAGES


async def test_page_belongs_to_its_session_and_is_erased_with_it(canvas: Made) -> None:
    await canvas.present()
    await made(canvas.tool.toolset, "canvas", session="other", action="present", html="<p>x</p>")
    assert len(await canvas.store.canvas.pages()) == 2
    await canvas.store.erasure.erase_session(context().turn.session, "test")
    (left,) = await canvas.store.canvas.pages()
    assert left.session == "other"


async def test_scripts_of_a_tainted_turn_or_of_a_file_are_off(canvas: Made, tmp_path: Path) -> None:
    told = (await canvas.tool.toolset.call(a_call("canvas", action="present", html=PAGE), TAINTED)).text
    assert "its scripts are off until the user lets them run" in told
    (tmp_path / "a.html").write_text(PAGE)
    assert "scripts are off" in await text_of(canvas.tool.toolset, "canvas", action="present", page="b", file="a.html")
    with pytest.raises(ToolFailed, match="scripts are off in b"):
        await made(canvas.tool.toolset, "canvas", action="eval", page="b", script="n")
    (page, *_) = await canvas.store.canvas.pages()
    assert (await canvas.store.canvas.let_run(page)).scripts
    with pytest.raises(ToolRefused):
        await made(canvas.tool.toolset, "canvas", action="present", file="/etc/hostname")


async def test_answers_of_a_page_are_untrusted(canvas: Made) -> None:
    await canvas.present()
    async with canvas.browser(CanvasAnswer("1")) as asked:
        said = await made(canvas.tool.toolset, "canvas", action="eval", script="n")
        assert (said.text, said.label.trusted, said.is_error) == ("1", False, False)
        await made(canvas.tool.toolset, "canvas", action="snapshot")
        assert asked == ["n", ""]
        assert "1 browser(s) show it" in await canvas.present("<p>new</p>")
    async with canvas.browser(CanvasAnswer("ReferenceError: m is not defined", failed=True)):
        assert (await made(canvas.tool.toolset, "canvas", action="eval", script="m")).is_error


async def test_page_without_a_browser_or_answer_is_reported(canvas: Made) -> None:
    with pytest.raises(ToolFailed, match="present main with html or a file"):
        await made(canvas.tool.toolset, "canvas", action="snapshot")
    await canvas.present()
    with pytest.raises(ToolFailed, match="no browser shows main: ask the user to open Canvas"):
        await made(canvas.tool.toolset, "canvas", action="snapshot")
    (page,) = await canvas.store.canvas.pages()
    silent = pytest.raises(ToolFailed, match=r"did not answer within 0\.2 s")
    with canvas.viewers.showing(page.id, page.version), silent:
        await made(canvas.tool.toolset, "canvas", action="eval", script="1")
    assert not canvas.viewers.answer("late", CanvasAnswer("x"))


async def test_wrong_arguments_are_named(canvas: Made) -> None:
    await canvas.present()
    for wrong in ({"action": "eval"}, {"action": "present", "version": 7}, {"action": "navigate"}):
        with pytest.raises(ToolFailed):
            await made(canvas.tool.toolset, "canvas", **wrong)


def test_tainted_turn_needs_approval_for_scripts_but_not_for_pages(canvas: Made) -> None:
    (spec,) = canvas.tool.toolset.specs()
    policy = Policy(HardRules(PLACES), PolicySettings())

    def rule(tainted: bool, **arguments: object) -> str:
        analysis = read_call(a_call("canvas", **arguments), spec, READER, Sandbox())
        assert analysis is not None
        assert analysis.complete
        return policy.decide(analysis, judged(tainted=tainted)).rule

    assert rule(True, action="eval", script="1") == "taint.network"
    assert rule(False, action="eval", script="1") == "mode.online"
    assert rule(True, action="present", html=PAGE, page="x") == rule(False, action="hide") == "mode.write"


async def test_snapshot_includes_a_picture_if_a_renderer_is_available(canvas: Made) -> None:
    await canvas.present()
    canvas.drawn.data = b"\xff\xd8picture"
    alone = await made(canvas.tool.toolset, "canvas", action="snapshot")
    assert alone.text == "The page as it is when it is opened; no browser shows it now"
    assert not alone.label.trusted
    async with canvas.browser(CanvasAnswer("text: 42")):
        seen = await made(canvas.tool.toolset, "canvas", action="snapshot")
    assert (seen.text, await canvas.store.blobs.load(seen.images[0].blob)) == ("text: 42", canvas.drawn.data)
    assert canvas.drawn.asked == [(PAGE, True), (PAGE, True)]
    canvas.drawn.data = ToolFailed("3 browsers are at work already")
    async with canvas.browser(CanvasAnswer("text: 42")):
        told = await made(canvas.tool.toolset, "canvas", action="snapshot")
    assert told.text == "text: 42\n(no picture: 3 browsers are at work already)"
