"""HTTP request heads as the proxy reads them (RFC 9112). Anything ambiguous is refused."""

from asyncio import StreamWriter
from contextlib import suppress


class ProxyRefused(Exception):
    """Raised for a request that the proxy refuses. The message is for the command that sent it."""

    def __init__(self, reason: str, code: str = "403 Forbidden") -> None:
        super().__init__(reason)
        self.code = code


def split_head(head: bytes, encoding: str) -> tuple[tuple[str, str, str], list[str]]:
    """Return method, target and version of a request, and its header lines. Raises ProxyRefused if it is malformed."""
    try:
        first, *lines = head.decode(encoding).removesuffix("\r\n\r\n").split("\r\n")
        method, target, version = first.split(" ")
    except ValueError:
        raise ProxyRefused("this is no request", "400 Bad Request") from None
    plain = method.isascii() and method.isalpha() and version in ("HTTP/1.1", "HTTP/1.0")
    if not plain or any("\n" in line for line in (first, *lines)):
        raise ProxyRefused("this is no request", "400 Bad Request")
    return (method, target, version), lines


def split_header(line: str) -> tuple[str, str]:
    """Return name and value of a header line. Raises ProxyRefused if it is malformed."""
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip() or "\r" in line or "\0" in line:
        raise ProxyRefused("a header cannot be read", "400 Bad Request")
    return name, value


async def send_error(writer: StreamWriter, code: str, text: str) -> None:
    """Answer with a text of the proxy's own."""
    head = f"HTTP/1.1 {code}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    writer.write((head + text).encode("ascii", "replace"))
    with suppress(OSError):
        await writer.drain()
