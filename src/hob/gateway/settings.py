"""Settings of the API: address, TLS, body limit, trusted names, origins and proxies."""

from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from hob.core.settings import Secret, setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass

SHORTEST = 16
TOO_SHORT = translatable("is shorter than {shortest} characters; unset it and Hob makes a good one", shortest=SHORTEST)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The HTTP API."""

    host: str = setting("127.0.0.1", "Address the API listens on.")
    port: int = setting(
        18790,
        "Port the API listens on; 0 picks a free one, -1 leaves only the Unix socket.",
        at_least=-1,
        at_most=65535,
    )
    hosts: list[str] = setting([], "Host names by which the API may be reached, besides localhost and addresses.")
    cors_origins: list[str] = setting([], "Other web pages that may call the API (CORS), e.g. https://example.org.")
    trusted_proxies: list[str] = setting([], "Addresses of proxies whose X-Forwarded-For is trusted.")
    tls_cert: Path | None = setting(None, "Certificate chain (PEM); the API then speaks HTTPS only.")
    tls_key: Path | None = setting(None, "Private key of the certificate (PEM), if it is not in the same file.")
    auth_token: Secret | None = setting(None, "Your token for the API; not set: made at the first start.")
    metrics: bool = setting(False, "Whether GET /metrics serves metrics for Prometheus.")
    wait_seconds: float = setting(300.0, "Maximum seconds that POST /chat waits for an answer.", at_least=0)
    body_bytes: int = setting(1_000_000, "Maximum request body, in bytes.", at_least=1_000)

    def __post_init__(self) -> None:
        """Raises ValueError for values that would admit no one, or everyone."""
        if self.auth_token is not None and not self.auth_token.reference:
            length = len(self.auth_token.reveal())
            self.auth_token.forget()  # so that its next read reports it to the masking of secrets
            if length < SHORTEST:
                raise ValueError(translatable("gateway.auth_token {problem}", problem=TOO_SHORT))
        for name in self.hosts:
            if not name or not set(name) <= _OF_NAMES:
                raise ValueError(
                    translatable("hosts: {name} is not a host name; write it like hob.example.org", name=repr(name))
                )
        for origin in self.cors_origins:
            if not _is_origin(origin):
                raise ValueError(
                    translatable(
                        "cors_origins: {origin} is not an origin; write it like https://example.org",
                        origin=repr(origin),
                    )
                )
        for proxy in self.trusted_proxies:
            try:
                network = ip_network(proxy)
            except ValueError:
                raise ValueError(
                    translatable("trusted_proxies: {proxy} is neither an address nor a network", proxy=repr(proxy))
                ) from None
            if network.prefixlen < _NARROW[network.version]:
                raise ValueError(
                    translatable(
                        "trusted_proxies: {proxy} covers nearly every address, and all of them could forge where they "
                        "come from; name the proxies themselves",
                        proxy=repr(proxy),
                    )
                )

    @property
    def proxied_from_elsewhere(self) -> bool:
        """Whether the proxies are only known to reach this machine over a network."""
        proxies = [ip_network(proxy) for proxy in self.trusted_proxies]
        return bool(proxies) and not any(proxy.is_loopback for proxy in proxies)


_NARROW = {4: 8, 6: 16}
"""The widest allowed proxy network by IP version: 10.0.0.0/8 may be one owner's, half of the internet may not."""
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")


def _is_origin(text: str) -> bool:
    """Return whether this is a valid Origin header: https://www.rfc-editor.org/rfc/rfc6454#section-6.2"""
    try:
        parts = urlsplit(text)
        host = parts.hostname
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and text == f"{parts.scheme}://{host}{port}"
