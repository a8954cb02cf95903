"""Which browsers show which canvas page now, and asking one of them about it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from hob.core.content.canvas import CanvasAnswer, CanvasPage, CanvasQuestion
from hob.core.ids import new_span_id

Shown = tuple[str, int]
"""A page's id and its version."""


class CanvasViewers:
    """Those that show one, the one that came last is asked."""

    def __init__(self) -> None:
        self._viewers: list[tuple[Shown, asyncio.Queue[CanvasQuestion]]] = []
        self._waiting: dict[str, asyncio.Future[CanvasAnswer]] = {}
        self._came = asyncio.Event()

    @contextmanager
    def showing(self, page: str, version: int) -> Iterator["asyncio.Queue[CanvasQuestion]"]:
        """A browser shows it while the block is open, and is given what the page is asked."""
        viewer = ((page, version), asyncio.Queue[CanvasQuestion]())
        self._viewers.append(viewer)
        self._came.set()
        self._came = asyncio.Event()
        try:
            yield viewer[1]
        finally:
            self._viewers.remove(viewer)

    def count(self, page: CanvasPage) -> int:
        """How many browsers show this page, in whatever version."""
        return sum(id == page.id for (id, _), _ in self._viewers)

    async def ask(self, page: CanvasPage, script: str) -> CanvasAnswer:
        """Ask this version where it is shown, as soon as it is. It takes as long as it takes."""
        while (queue := self._find(page)) is None:
            await self._came.wait()
        question = CanvasQuestion(new_span_id(), script)
        answer: asyncio.Future[CanvasAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = answer
        try:
            queue.put_nowait(question)
            return await answer
        finally:
            del self._waiting[question.id]

    def answer(self, question: str, answer: CanvasAnswer) -> bool:
        """What a page said; False if it came too late."""
        waiting = self._waiting.get(question)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True

    def _find(self, page: CanvasPage) -> "asyncio.Queue[CanvasQuestion] | None":
        wanted = (page.id, page.version)
        return next((queue for shown, queue in reversed(self._viewers) if shown == wanted), None)
