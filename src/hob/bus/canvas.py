"""The browsers that currently show a canvas page, and questions to the page."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from hob.core.content.canvas import CanvasAnswer, CanvasPage, CanvasQuestion
from hob.core.ids import new_span_id

Shown = tuple[str, int]
"""A page's id and its version."""


class CanvasViewers:
    """Open canvas pages; the most recently opened browser is asked."""

    def __init__(self) -> None:
        self._viewers: list[tuple[Shown, asyncio.Queue[CanvasQuestion]]] = []
        self._waiting: dict[str, asyncio.Future[CanvasAnswer]] = {}
        self._viewer_added = asyncio.Event()

    @contextmanager
    def showing(self, page: str, version: int) -> Iterator["asyncio.Queue[CanvasQuestion]"]:
        """Register a browser that shows the page while the block is open; the queue yields questions to the page."""
        viewer = ((page, version), asyncio.Queue[CanvasQuestion]())
        self._viewers.append(viewer)
        self._viewer_added.set()
        self._viewer_added = asyncio.Event()
        try:
            yield viewer[1]
        finally:
            self._viewers.remove(viewer)

    def count(self, page: CanvasPage) -> int:
        """Return how many browsers show this page, in any version."""
        return sum(id == page.id for (id, _), _ in self._viewers)

    async def ask(self, page: CanvasPage, script: str) -> CanvasAnswer:
        """Run the script in this version of the page, as soon as a browser shows it. Has no time limit."""
        while (queue := self._find(page)) is None:
            await self._viewer_added.wait()
        question = CanvasQuestion(new_span_id(), script)
        answer: asyncio.Future[CanvasAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = answer
        try:
            queue.put_nowait(question)
            return await answer
        finally:
            del self._waiting[question.id]

    def answer(self, question: str, answer: CanvasAnswer) -> bool:
        """Deliver a page's answer; return False if no one waits for it any more."""
        waiting = self._waiting.get(question)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True

    def _find(self, page: CanvasPage) -> "asyncio.Queue[CanvasQuestion] | None":
        wanted = (page.id, page.version)
        return next((queue for shown, queue in reversed(self._viewers) if shown == wanted), None)
