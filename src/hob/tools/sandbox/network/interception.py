"""Interception of requests to hosts with a credential: the proxy acts as the server and forwards to the real one.

It serves one request per connection, in HTTP/1.1 (RFC 9112). Anything ambiguous is refused. The real server's
certificate is verified; the command trusts the proxy's certificate through the authority of its run.
"""

import asyncio
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy
from hob.core.libraries import install_command
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.network.credentials import JobCredential, ResponseMask, written
from hob.tools.sandbox.network.hosts import host_name
from hob.tools.sandbox.network.request_heads import ProxyRefused, send_error, split_head, split_header

CA_FILE = "/run/hob/ca.pem"
"""The command's CA bundle: the system's authorities and that of its run."""
_VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO")
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_HEAD_SECONDS, _CONNECT_SECONDS, _IDLE_SECONDS = 15.0, 20.0, 300.0
_PIECE = 64 * 1024
# headers of the connection itself, and those that could hide the response
_DROPPED = frozenset(
    {"connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade", "expect"}
    | {"accept-encoding", "host"}
)


class Authority(Protocol):
    """Issues certificates for one command."""

    pem: bytes

    def context(self, host: str) -> ssl.SSLContext:
        """Return the TLS context for serving this host."""


def system_bundle() -> bytes:
    """Return this machine's CA bundle (PEM), or b"" if it is not found. Raises OSError."""
    return next((Path(name).read_bytes() for name in _BUNDLES if Path(name).is_file()), b"")


@dataclass(frozen=True, slots=True)
class FilledRequest:
    """A request head with secrets inserted, pairs of secrets and placeholders, and the credentials used."""

    head: bytes
    pairs: tuple[tuple[bytes, bytes], ...]
    used: tuple[JobCredential, ...]


def insert_credentials(head: bytes, host: str, credentials: Sequence[JobCredential]) -> FilledRequest:
    """Build the head sent to the host. Raises ProxyRefused."""
    (method, target, version), lines = split_head(head, "latin-1")
    if not target.startswith("/") and target != "*":
        raise ProxyRefused("this is no request", "400 Bad Request")
    kept: list[str] = []
    pairs: list[tuple[bytes, bytes]] = []
    used: list[JobCredential] = []
    bodies = 0
    for line in lines:
        name, value = split_header(line)
        lowered = name.lower()
        if lowered == "host" and host_name(value.strip().partition(":")[0]) != host:
            raise ProxyRefused(f"a request to {host} names another host")
        bodies += lowered in ("content-length", "transfer-encoding")
        for credential in credentials:
            if lowered == credential.header and (made := written(credential, value.strip())) is not None:
                value, pair = f" {made[0]}", made[1]
                pairs.append(pair)
                used.append(credential)
        if lowered not in _DROPPED:
            kept.append(f"{name}:{value}")
    if bodies > 1:
        raise ProxyRefused("the body's length cannot be read", "400 Bad Request")
    text = "\r\n".join([f"{method} {target} {version}", f"Host: {host}", *kept, "Connection: close", "", ""])
    return FilledRequest(text.encode("latin-1"), tuple(pairs), tuple(used))


CredentialUseCallback = Callable[[str, bool, str], None]
"""Receives each use of a credential: its name, whether it was inserted, and if not, the reason."""


class Interception:
    """Intercepts the requests of one command to the hosts of its credentials."""

    def __init__(self, credentials: Sequence[JobCredential], trust: Callable[[], ssl.SSLContext]) -> None:
        """`trust` creates the context that verifies the real servers. Raises NotConfigured without the library."""
        self._of: dict[str, tuple[JobCredential, ...]] = {}
        for each in credentials:
            self._of[each.host] = (*self._of.get(each.host, ()), each)
        self._trust = trust
        try:
            self._authority = _authority()(self._of, datetime.now(UTC))
        except ImportError as error:
            command = install_command("hob[secrets]")
            raise NotConfigured(
                translatable("sandbox.credentials needs a library: {command}", command=command)
            ) from error
        self._contexts: dict[str, ssl.SSLContext] = {}

    def covers(self, host: str) -> bool:
        """Return whether requests to this host are intercepted."""
        return host in self._of

    def holds(self, head: bytes) -> bool:
        """Return whether the text contains a placeholder."""
        return any(each.placeholder.encode() in head for some in self._of.values() for each in some)

    @property
    def bundle(self) -> bytes:
        """The CA bundle that the command trusts."""
        return system_bundle() + b"\n" + self._authority.pem

    @property
    def environ(self) -> dict[str, str]:
        """The variables that tell a command the placeholders and the CA bundle."""
        shown = {each.variable: each.placeholder for some in self._of.values() for each in some}
        return {**shown, **dict.fromkeys(_VARIABLES, CA_FILE)}

    async def pass_on(
        self,
        host: str,
        port: int,
        address: str,
        reader: StreamReader,
        writer: StreamWriter,
        told: CredentialUseCallback,
    ) -> None:
        """Serve one request as this host. Raises OSError, TimeoutError, IncompleteReadError."""
        if host not in self._contexts:
            self._contexts[host] = self._authority.context(host)
        async with asyncio.timeout(_HEAD_SECONDS):
            await writer.start_tls(self._contexts[host])
            head = await reader.readuntil(b"\r\n\r\n")
        try:
            request = insert_credentials(head, host, self._of[host])
            for each in request.used:
                if not each.may():
                    told(each.name, False, "it was used too often within a minute (per_minute)")
                    raise ProxyRefused(f"the credential {each.name} was used too often", "429 Too Many Requests")
            far_reader, far_writer = await self._connect(host, port, address)
        except ProxyRefused as refusal:
            await send_error(writer, refusal.code, f"Refused by the sandbox: {refusal}.\n")
            return
        try:
            far_writer.write(request.head)
            for each in request.used:
                told(each.name, True, "")
            async with asyncio.TaskGroup() as both:
                sending = both.create_task(_copy(reader, far_writer))
                await _copy(far_reader, writer, ResponseMask(request.pairs))
                sending.cancel()
        except* (OSError, TimeoutError):
            pass  # one of the sides is gone
        finally:
            far_writer.close()

    async def _connect(self, host: str, port: int, address: str) -> tuple[StreamReader, StreamWriter]:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await asyncio.open_connection(address, port, ssl=self._trust(), server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            why = f"{host} has no certificate that holds ({error.verify_message})"
            raise ProxyRefused(why, "502 Bad Gateway") from error
        except (OSError, TimeoutError) as error:
            raise ProxyRefused(f"{host} does not answer ({str(error) or 'timeout'})", "502 Bad Gateway") from error


@Lazy
def _authority() -> Callable[[Iterable[str], datetime], Authority]:
    from hob.tools.sandbox.network.authority import RunAuthority

    return RunAuthority


async def _copy(source: StreamReader, sink: StreamWriter, mask: ResponseMask | None = None) -> None:
    """Copy until the source ends."""
    while True:
        async with asyncio.timeout(_IDLE_SECONDS):
            piece = await source.read(_PIECE)
        sink.write(mask.feed(piece) if mask is not None else piece)
        async with asyncio.timeout(_IDLE_SECONDS):
            await sink.drain()
        if not piece:
            return
