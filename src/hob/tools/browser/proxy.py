"""The browser's proxy: the sandbox's proxy, open to all public hosts and closed to this machine and its network.

Each name is resolved here, its addresses are checked, and the connection goes to a checked one. Requests of WebSockets
and workers, on any port, pass through it too.
"""

from asyncio import StreamReader

from hob.tools.sandbox.network.hosts import (
    HostDecision,
    HostDecisionCallback,
    HostRules,
    host_or_address,
    is_link_local,
)
from hob.tools.sandbox.network.proxy import INTERNET, Internet, Proxy, ProxyRequest
from hob.tools.sandbox.network.request_heads import ProxyRefused

MAX_BYTES = 32_000_000
"""Bytes after which a connection is cut, because a page may be endless."""

MAX_OF_DOWNLOAD = 200_000_000
_WEB = frozenset({80, 443})
# lower ports belong to mail servers and the like, which a request could be tricked into talking to
_LOWEST_OTHER_PORT = 1024


class BrowserProxy(Proxy):
    """The proxy of one browser. `local` are hosts that may resolve to this machine or its network.

    Numeric addresses follow the same rule: they must be public or named by the owner.
    """

    _host = staticmethod(host_or_address)

    def __init__(self, local: HostRules, decided: HostDecisionCallback, internet: Internet = INTERNET) -> None:
        super().__init__(local, decided, internet)
        self.maximum = MAX_BYTES

    async def _admit(self, request: ProxyRequest) -> str:
        host, port = request.host, request.port
        if port not in _WEB and port < _LOWEST_OTHER_PORT:
            raise self._refused(request, f"port {port} is not one that serves web pages")
        try:
            found = [each.partition("%")[0] for each in await self._internet.resolve(host, port)]
        except OSError as error:
            raise ProxyRefused(f"{host} cannot be resolved ({error})", "502 Bad Gateway") from error
        local = self._rules.allow(host)
        for address in found:
            if is_link_local(address) or not (local or self._internet.reachable(address)):
                where = "" if address == host else f" leads to {address}, which"
                raise self._refused(request, f"{host}{where} is not on the public internet")
        if not found:
            raise ProxyRefused(f"{host} has no address", "502 Bad Gateway")
        self._decided(HostDecision(host, port, True, "allowed"))
        return min(found, key=lambda address: ":" in address)  # IPv6 may be unavailable

    async def _hello(self, request: ProxyRequest, reader: StreamReader) -> bytes | None:
        """Skip the check of the TLS name, because every host is allowed."""
        return b""

    def _is_too_much(self, passed: int) -> bool:
        return passed > self.maximum
