"""Where the API listens and who may speak to it."""

from dataclasses import dataclass
from pathlib import Path

from hob.core.settings import Secret, setting


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
    hosts: list[str] = setting([], "Names under which the API is reached, beside localhost and every address.")
    cors_origins: list[str] = setting([], "Web pages of others that may call, as https://example.org.")
    trusted_proxies: list[str] = setting([], "Addresses of proxies whose X-Forwarded-For is believed.")
    tls_cert: Path | None = setting(None, "Certificate chain (PEM); the API then speaks HTTPS only.")
    tls_key: Path | None = setting(None, "Private key of the certificate (PEM), where it is not in the same file.")
    auth_token: Secret | None = setting(None, "Bearer token of the API; made at first start when unset.")
    wait_seconds: float = setting(300.0, "Longest time POST /chat waits for an answer.", at_least=0)
    body_bytes: int = setting(1_000_000, "Largest request body.", at_least=1_000)
