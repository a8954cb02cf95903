"""The sockets Hob listens on. Binding them does not load the HTTP server."""

import errno
import socket
from pathlib import Path

from hob.core.errors import NotConfigured, NotReady
from hob.core.translation.language import translatable

_TEMPORARY = {errno.EADDRINUSE, errno.EADDRNOTAVAIL, socket.EAI_AGAIN}
"""Errors that may pass: the port is in use, or the network is not up yet."""


def bind_tcp(host: str, port: int, setting: str = "gateway.port") -> socket.socket:
    """Return a listening TCP socket. Raises NotReady if the address is taken or not up yet, else NotConfigured."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host.encode() if host.isascii() else host,  # for text, Python loads tables of international names
            port,
            type=socket.SOCK_STREAM,
        )[0]
        listener = socket.socket(family, kind, proto)
    except OSError as error:
        raise _error_class(error)(f"gateway.host {host!r}: {error.strerror}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise _error_class(error)(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another with `hob config set {setting} N`"
        ) from error
    listener.setblocking(False)
    return listener


def _error_class(error: OSError) -> type[NotConfigured]:
    return NotReady if error.errno in _TEMPORARY else NotConfigured


def bind_unix(path: Path) -> socket.socket:
    """Return a listening Unix socket, created 0600; a stale one is replaced.

    Only the holder of the home's lock may call this, so any socket found there is stale.
    """
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # bound under another name, made private, then renamed, so that it is never open to others
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    listener.bind(_checked_path(fresh))
    fresh.chmod(0o600)
    listener.listen(128)
    fresh.rename(path)
    listener.setblocking(False)
    return listener


def _checked_path(path: Path) -> str:
    """Return the path if it fits a Unix socket's address (104 bytes on macOS, 108 on Linux). Raises NotConfigured."""
    text = str(path)
    if len(text.encode()) < 100:
        return text
    raise NotConfigured(
        translatable("HOB_HOME is too long for a Unix socket: {text}; choose a shorter directory", text=text)
    )
