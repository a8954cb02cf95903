"""The commands' HTTP client for the Unix socket `hob.sock`, standard library only.

An HTTP library would take ten times as long to load.
"""

import http.client
import json
import socket
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from hob.core.content.json_text import parse_json_object
from hob.core.errors import HobError
from hob.core.translation.language import unpack_text
from hob.core.values import dataclass
from hob.gateway.chat.inbound import ClientEvent


def text_of(error: Mapping[str, Any]) -> str:
    """Return an error's text, translatable if its message and values were sent."""
    return unpack_text(error["text"]) if "text" in error else str(error.get("message", ""))


class NotRunning(HobError):
    """No Hob is running in this home."""


class ConnectionLost(HobError):
    """Hob went away during the request; what it had accepted is kept."""


class RequestFailed(HobError):
    """The owner of the home could not do it."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        error = body.get("error", {})
        super().__init__(text_of(error))
        self.code: str = error.get("code", "")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer's status and JSON body."""

    status: int
    body: dict[str, Any]
    retry_after: str = ""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("hob", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(str(self._path))
        except OSError as error:
            self.sock.close()
            raise NotRunning from error


def call(
    path: Path,
    method: str,
    route: str,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    *,
    timeout: float | None = 60.0,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> HttpAnswer:
    """Send one request. Raises NotRunning if no Hob listens, ConnectionLost if it goes away."""
    with _Exchange(path, timeout) as exchange:
        response = exchange.send(method, route, query, body, headers)
        text = response.read()
        return HttpAnswer(response.status, _parse_body(text), response.getheader("retry-after", "") or "")


_BYTES = MappingProxyType({"content-type": "application/octet-stream"})


def upload(path: Path, route: str, data: bytes, headers: Mapping[str, str] = _BYTES) -> HttpAnswer:
    """Upload bytes. Raises as `call` does."""
    with _Exchange(path, 60.0) as exchange:
        response = exchange.send_bytes("POST", route, data, headers)
        return HttpAnswer(response.status, _parse_body(response.read()))


def lines(
    path: Path,
    route: str,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield the lines of a streamed answer, of a POST if there is a body. Raises RequestFailed."""
    with _Exchange(path, None) as exchange:
        response = exchange.send("GET" if body is None else "POST", route, query, body, headers)
        if response.status != 200:
            raise RequestFailed(_parse_body(response.read()))
        for line in response:
            yield line.decode()


def stream_chat(path: Path, body: Mapping[str, Any], key: str) -> Generator[ClientEvent, None, None]:
    """Send a message and yield its events: `accepted`, `delta`, ..., and last `result` or `error`.

    Raises NotRunning before anything was sent, ConnectionLost afterwards; repeating it with the same key then joins the
    same message.
    """
    return _stream(path, "POST", "/chat", body, {"idempotency-key": key})


def stream_again(path: Path, id: str) -> Generator[ClientEvent, None, None]:
    """Yield the remaining events of an earlier message."""
    return _stream(path, "GET", f"/chat/{quote(id, safe='')}", None, {})


def _stream(
    path: Path, method: str, route: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
) -> Generator[ClientEvent, None, None]:
    with _Exchange(path, None) as exchange:
        response = exchange.send(method, route, None, body, {"accept": "text/event-stream", **headers})
        if response.status != 200:
            yield ClientEvent("error", _parse_body(response.read()))
            return
        name, last = "", ""
        for raw in response:
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                event = ClientEvent(name, json.loads(line.removeprefix("data: ")))
                if name == "error" and event.data["error"]["code"] == "stopping":
                    raise ConnectionLost  # only the next owner knows whether the message was accepted
                last = name
                yield event
        if last not in {"result", "error"}:
            raise ConnectionLost


class _Exchange:
    """One connection; its errors become ConnectionLost."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        self._connection = _UnixConnection(path, timeout)

    def __enter__(self) -> "_Exchange":
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._connection.close()
        if isinstance(error, OSError | http.client.HTTPException):
            raise ConnectionLost from error

    def send(
        self,
        method: str,
        route: str,
        query: Mapping[str, str] | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        target = f"{route}?{urlencode(query)}" if query else route
        content = None if body is None else json.dumps(body).encode()
        extra = {"content-type": "application/json"} if content is not None else {}
        return self.send_bytes(method, target, content, {**headers, **extra})

    def send_bytes(
        self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        self._connection.request(method, target, content, dict(headers))
        return self._connection.getresponse()


def _parse_body(text: bytes) -> dict[str, Any]:
    value = parse_json_object(text)
    return value if value is not None else {"error": {"code": "garbage", "message": text[:200].decode("latin-1")}}
