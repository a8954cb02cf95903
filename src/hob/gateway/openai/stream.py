"""Streamed answers as server-sent events.

The status is delayed until there is output, or as long as proxies surely wait: earlier failures are then reported by
the status, and clients retry. Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from itertools import chain
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hob.core.errors import HobError
from hob.core.events.notices import MESSAGE_SENT, Delta, Notice, Progress, Retracted
from hob.core.ids import OutboxId
from hob.gateway.api import Api
from hob.gateway.chat.outcome import OpenQuestion, watch
from hob.gateway.http.endpoint import EVENTS
from hob.gateway.http.failures import failure_of
from hob.gateway.openai.ask import ChatOutcome, ChatRun, awaited, conclude, part, until_gone
from hob.gateway.openai.errors import OpenAIProblem, refused
from hob.gateway.openai.messages_beside import BETWEEN, find_beside

# Text of a streamed answer, derived from a turn's notices. Sent text cannot be taken back.


class StreamedText:
    """Returns the pieces to send; together they end with the whole answer, whatever notices were missed.

    Text before a tool call is streamed as well, and so is text that a model began and took back. An empty line
    separates each from what follows, messages beside the answer too.
    """

    def __init__(self) -> None:
        self._sent = False
        self._round = ""
        self._ended = False
        self._shown: set[OutboxId] = set()

    def feed(self, notice: Notice) -> str:
        """Return the text to send for this notice, often none."""
        match notice:
            case Delta(text=text, reasoning=False) if text:
                return self._say(text)
            case Retracted():
                self._ended = True
            case Progress(what="call" | "tool"):
                self._ended = True
            case _:
                pass
        return ""

    def finish(self, text: str) -> str:
        """Return the rest of the answer."""
        if not self._ended and text.startswith(self._round):
            missing, self._round = text[len(self._round) :], text
            self._sent = self._sent or bool(missing)
            return missing
        self._ended = True
        return self._say(text) if text else ""

    def message(self, id: OutboxId, text: str) -> str:
        """Return the text to send for a message beside the answer, once."""
        if id in self._shown or not text:
            return ""
        self._shown.add(id)
        self._ended = True
        said = self._say(text)
        self._ended = True
        return said

    def _say(self, text: str) -> str:
        before = ""
        if self._ended:
            before = BETWEEN if self._sent else ""
            self._round, self._ended = "", False
        self._round += text
        self._sent = True
        return before + text


QUIET = 15.0
"""Seconds of silence that proxies tolerate."""
_HEARTBEAT = b": working\n\n"
_FOR_EVER = 10.0**9
_LEFT_OUT = {ord("\u2028"): "\\u2028", ord("\u2029"): "\\u2029", ord("\x85"): "\\u0085"}
"""Characters that some clients treat as line ends (https://docs.python.org/3/library/stdtypes.html#str.splitlines)."""


class StreamWriter(Protocol):
    """Writes one answer in one of OpenAI's formats, event by event."""

    def begin(self) -> Iterable[bytes]:
        """Return what precedes the first piece."""

    def piece(self, text: str) -> Iterable[bytes]:
        """Return a piece of the answer."""

    def end(self, outcome: ChatOutcome) -> Iterable[bytes]:
        """Return what follows the last piece."""

    def fail(self, problem: OpenAIProblem) -> Iterable[bytes]:
        """Return what replaces the rest of the answer."""


def event(data: Any, name: str = "") -> bytes:
    """Format one event. JSON escapes line ends, so the data is a single line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_LEFT_OUT)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode("utf-8", "replace")


class Stream(Response):
    """The streamed answer to a request, sent while its client is connected."""

    def __init__(self, api: Api, run: ChatRun, writer: StreamWriter, *, checked: bool = False) -> None:
        """A `checked` answer is sent only when it is complete."""
        super().__init__(media_type=EVENTS)
        del self.headers["content-length"]
        self._api = api
        self._run = run
        self.writer = writer
        self._checked = checked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = _Sending(self, scope, receive, send)
        async with awaited(self._api, self._run.accepted.id), asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._tell(sending)),
                group.create_task(sending.keep_alive()),
                group.create_task(until_gone(Request(scope, receive))),
            ]
            await asyncio.wait((tasks[0], tasks[2]), return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        await part(self._api, self._run, delivered=not tasks[0].cancelled())

    async def _tell(self, sending: "_Sending") -> None:
        """Send everything up to the end; errors are sent, not raised."""
        api, id, notifier, writer = self._api, self._run.accepted.id, StreamedText(), self.writer
        try:
            if self._run.accepted.duplicate:
                await self._messages(sending, notifier)
            async with aclosing(watch(api, self._run.accepted, _FOR_EVER)) as life:
                async for item in life:
                    if isinstance(item, dict) or isinstance(item, OpenQuestion):  # noqa: SIM101 - narrows the types
                        break
                    if self._checked:
                        continue
                    if isinstance(item, Progress) and item.what == MESSAGE_SENT:
                        await self._messages(sending, notifier)
                    else:
                        await self._piece(sending, notifier.feed(item))
            ended = await conclude(api, id, self._run.answered)
        except HobError as error:
            ended = refused(failure_of(error))
        if isinstance(ended, OpenAIProblem):
            await sending.fail(ended)
            return
        self.headers.update(ended.headers)
        await self._messages(sending, notifier, ended.beside)
        await self._piece(sending, notifier.finish(ended.text))
        await sending.send(writer.end(ended))
        await sending.close()

    async def _messages(
        self, sending: "_Sending", notifier: StreamedText, beside: Mapping[OutboxId, str] | None = None
    ) -> None:
        """Send the messages beside the answer that were not sent yet."""
        if beside is None:
            beside = await find_beside(self._api, self._run.accepted.id, self._run.answered)
        for id, text in beside.items():
            await self._piece(sending, notifier.message(id, text))

    async def _piece(self, sending: "_Sending", text: str) -> None:
        if text:
            await sending.send(self.writer.piece(text))


class _Sending:
    """Sends the head with the first bytes, and keep-alives during long silences."""

    def __init__(self, stream: Stream, scope: Scope, receive: Receive, send: Send) -> None:
        self._stream = stream
        self._scope, self._receive, self._send = scope, receive, send
        self._begun = False
        self._last = asyncio.get_running_loop().time()
        self._turn = asyncio.Lock()

    async def send(self, events: Iterable[bytes]) -> None:
        """Send events. They are built after the opening events, because they may be numbered."""
        async with self._turn:
            if not self._begun:
                self._begun = True
                head = {"type": "http.response.start", "status": 200, "headers": self._stream.raw_headers}
                await self._send(head)
                events = chain(self._stream.writer.begin(), events)
            self._last = asyncio.get_running_loop().time()
            await self._send({"type": "http.response.body", "body": b"".join(events), "more_body": True})

    async def fail(self, problem: OpenAIProblem) -> None:
        """Report a failure by the status if nothing was sent yet, otherwise as an event."""
        async with self._turn:
            begun, self._begun = self._begun, True
        if not begun:
            await problem.response()(self._scope, self._receive, self._send)
            return
        await self.send(self._stream.writer.fail(problem))
        await self.close()

    async def close(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def keep_alive(self) -> None:
        """Send keep-alives until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            quiet = loop.time() - self._last
            if quiet >= QUIET:
                await self.send((_HEARTBEAT,))
                quiet = 0.0
            await asyncio.sleep(QUIET - quiet)
