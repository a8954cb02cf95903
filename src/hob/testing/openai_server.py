"""A fake OpenAI server on loopback: fast, scriptable, and with every failure on demand.

In a test: `async with OpenAIServer() as server`, then point a client at `server.url`. As a program:
`python -m hob.testing.openai_server --port 0` prints its base URL.

Without a script it behaves by what the last user message says in its first paragraph (the first one behind the last
note that something was not answered or was stopped, where there is such a note):

* `CALL name {json}` (one or more lines) asks for these tool calls; with their results it says `The tool said: …`;
* `FAULT name` fails as `Fault` names it; `FAULT name 2` does so for the first two requests of that text, then it says
  `ok`;
* if the system text names sections by lines that begin with `## `, each of them gets a line: a summary is a summary;
* anything else is answered by `You said: …`.

Other processes can reach the script by `POST /_fake/script` (a JSON list of replies) and what was asked by
`GET /_fake/requests`.
"""

import argparse
import asyncio
import contextlib
import json
import re
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hob.testing.openai_replies import Action, End, Fault, Reply, answer, error, reply_of, too_long, unauthorized, whole

_MOST_BODY = 64 * 1024 * 1024
_CLOSED = re.compile(r"^\[(?:No answer was given to this: .*|The owner stopped this)\.\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came. `at` is monotonic; header names are in lower case."""

    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body. Raises ValueError."""
        return json.loads(self.body)


class OpenAIServer:
    """Serves `/v1/chat/completions` and `/v1/models` between `__aenter__` and `__aexit__`.

    `script` is used up one reply per chat request; then `otherwise` answers (a reply or a function of the request's
    JSON), then the convention of this module. `key` makes it refuse every other key; `most_bytes` makes longer
    requests overflow the context. `requests` holds the last `keep` requests to `/v1`.
    """

    def __init__(
        self,
        *script: Reply | str,
        port: int = 0,
        otherwise: Reply | Callable[[Mapping[str, Any]], Reply] | None = None,
        key: str | None = None,
        models: Sequence[str] = ("fake-1",),
        most_bytes: int | None = None,
        delay: float = 0.0,
        keep: int = 10_000,
    ) -> None:
        self.script: deque[Reply] = deque(reply if isinstance(reply, Reply) else Reply(reply) for reply in script)
        self.requests: deque[Asked] = deque(maxlen=keep)
        self.connections: set[_Connection] = set()
        self._otherwise = otherwise
        self._key = key
        self._models = tuple(models)
        self._most_bytes = most_bytes
        self._delay = delay
        self._port = port
        self._number = 0
        self._failed: Counter[str] = Counter()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The base URL, with `/v1`."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def chats(self) -> list[Asked]:
        """The requests for completions among `requests`."""
        return [asked for asked in self.requests if asked.path.endswith("/chat/completions")]

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self, loop), "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None  # noqa: S101
        self._server.close()
        for connection in list(self.connections):
            connection.abort()
        await self._server.wait_closed()

    def respond(self, asked: Asked) -> Iterable[Action]:
        """What is done about one request."""
        path = asked.path.partition("?")[0]
        if path.startswith("/_fake/"):
            return [self._control(asked, path)]
        self.requests.append(asked)
        if self._key is not None:
            _, _, key = asked.headers.get("authorization", "").partition(" ")
            if key != self._key:
                return [unauthorized(key)]
        match asked.method, path:
            case "GET", "/v1/models":
                return [whole(200, self._list_models())]
            case "POST", "/v1/chat/completions":
                return self._complete(asked)
            case _:
                return [error(404, f"Unknown request URL: {asked.method} {path}.", kind="invalid_request_error")]

    def _control(self, asked: Asked, path: str) -> bytes:
        match asked.method, path:
            case "POST", "/_fake/script":
                self.script.extend(reply_of(reply) for reply in asked.json())
                return whole(200, b"{}")
            case "GET", "/_fake/requests":
                rows = [
                    {"method": r.method, "path": r.path, "headers": r.headers, "body": r.body.decode(), "at": r.at}
                    for r in self.requests
                ]
                return whole(200, json.dumps(rows).encode())
            case "DELETE", "/_fake/requests":
                self.requests.clear()
                return whole(200, b"{}")
            case _:
                return whole(404, b"{}")

    def _list_models(self) -> bytes:
        rows = [{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "hob"} for name in self._models]
        return json.dumps({"object": "list", "data": rows}).encode()

    def _complete(self, asked: Asked) -> Sequence[Action]:
        try:
            request = json.loads(asked.body)
            complaint = find_mistake(request)
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            complaint = "We could not parse the JSON body of your request."
        if complaint:
            return [error(400, complaint, kind="invalid_request_error")]
        if self._most_bytes is not None and len(asked.body) > self._most_bytes:
            return [too_long()]
        self._number += 1
        actions = answer(self._choose(request), request, self._number, len(asked.body))
        return [self._delay, *actions] if self._delay else actions

    def _choose(self, request: Mapping[str, Any]) -> Reply:
        if self.script:
            return self.script.popleft()
        if callable(self._otherwise):
            return self._otherwise(request)
        return self._otherwise or self._by_convention(request["messages"])

    def _by_convention(self, messages: Sequence[Mapping[str, Any]]) -> Reply:
        if messages[-1]["role"] == "tool":
            results = [text_of(message) for message in _last_results(messages)]
            return Reply(f"The tool said: {' | '.join(results)}")
        said = next((text_of(message) for message in reversed(messages) if message["role"] == "user"), "")
        paragraph = _CLOSED.split(said)[-1].strip().partition("\n\n")[0]
        lines = paragraph.splitlines()
        if paragraph.startswith("CALL "):
            words = (line.split(" ", 2) for line in lines if line.startswith("CALL "))
            return Reply(calls=tuple((word[1], word[2] if len(word) > 2 else "{}") for word in words))
        if paragraph.startswith("FAULT "):
            return self._fault_of(lines[0])
        if headings := _headings(messages[0]):
            return Reply("\n\n".join(f"{heading}\n- nothing of note" for heading in headings))
        return Reply(f"You said: {paragraph}")

    def _fault_of(self, line: str) -> Reply:
        _, name, *times = line.split()
        self._failed[line] += 1
        if times and self._failed[line] > int(times[0]):
            return Reply("ok")
        return Reply("Some words that come before the trouble.", fault=Fault(name))


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, whichever way it is written."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _headings(message: Mapping[str, Any]) -> list[str]:
    if message["role"] != "system":
        return []
    return [line for line in text_of(message).splitlines() if line.startswith("## ")]


def _last_results(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    last = len(messages)
    while messages[last - 1]["role"] == "tool":
        last -= 1
    return list(messages[last:])


def find_mistake(request: Any) -> str | None:
    """What the real server would refuse a request for; among others that every call has a result, and no result lacks

    its call.
    """
    if not isinstance(request, dict) or not isinstance(request.get("model"), str) or not request["model"]:
        return "You must provide a model parameter."
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return "'messages' must be a list that is not empty."
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("system", "developer", "user", "assistant", "tool"):
            return f"messages[{number}] has no valid role."
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"messages[{number}] with role 'tool' must follow a message with its 'tool_calls'."
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            return f"messages[{number}] must be a tool message responding to {sorted(open_calls)[0]}."
        open_calls.update(call["id"] for call in message.get("tool_calls") or ())
    return f"No tool message responds to {sorted(open_calls)[0]}." if open_calls else None


class _Connection(asyncio.Protocol):
    """One connection: requests one after the other, each answered before the next is looked at."""

    def __init__(self, server: OpenAIServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._buffer = b""
        self._actions: Iterator[Action] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._transport = None

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._actions is None and (asked := self._next_request()):
            self._actions = iter(self._server.respond(asked))
            self._perform()

    def _next_request(self) -> Asked | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if length > _MOST_BODY or "transfer-encoding" in headers:
            self._write(error(413, "The body's length must be given, and be small.", kind="invalid_request_error"))
            self._drop()
            return None
        if len(self._buffer) < end + 4 + length:
            return None
        body = self._buffer[end + 4 : end + 4 + length]
        self._buffer = self._buffer[end + 4 + length :]
        method, path, _ = first.split(" ", 2)
        return Asked(time.monotonic(), method, path, headers, body)

    def _perform(self) -> None:
        """Do actions until one needs time; neighbouring bytes go out together."""
        assert self._actions is not None  # noqa: S101
        ready: list[bytes] = []
        for action in self._actions:
            if isinstance(action, bytes):
                ready.append(action)
                continue
            self._write(b"".join(ready))
            if action is End.DROP:
                self._drop()
            elif action is not End.HANG and isinstance(action, float | int):
                self._loop.call_later(action, self._resume)
            return
        self._write(b"".join(ready))
        self._actions = None

    def _resume(self) -> None:
        if self._transport is None:
            return
        self._perform()
        if self._actions is None:
            self.data_received(b"")

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _drop(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def serve(server: OpenAIServer) -> None:
    """Serve until SIGINT or SIGTERM; the base URL is the first line on stdout."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    async with server:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(server.url + "\n")
            sys.stdout.flush()
        await stop.wait()


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(prog="python -m hob.testing.openai_server", description="A fake OpenAI server.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--say", help="answer everything with this text")
    parser.add_argument("--script", type=Path, help="a file of replies, one JSON text or object a line")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before the first byte of each answer")
    parser.add_argument("--key", help="refuse all other API keys")
    parser.add_argument("--keep", type=int, default=1000, help="requests to remember")
    options = parser.parse_args()
    script = options.script.read_text().splitlines() if options.script else []
    server = OpenAIServer(
        *(reply_of(json.loads(line)) for line in script if line.strip()),
        port=options.port,
        otherwise=None if options.say is None else Reply(options.say),
        key=options.key,
        delay=options.delay,
        keep=options.keep,
    )
    asyncio.run(serve(server))


if __name__ == "__main__":
    main()
