"""Hob's own certificate authority, which phones in the same network install once.

Its certificates are valid for private addresses only (RFC 5280, 4.2.1.10), so that a stolen key cannot impersonate any
other site.
"""

import hashlib
import platform
import re
import secrets
import ssl
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory

from hob.app.phone.programs import run_program
from hob.config.whole_file import write_whole
from hob.core.errors import NotConfigured, NotReady
from hob.core.translation.language import translatable

DAYS, RENEW_DAYS, _AUTHORITY_DAYS = 90, 30, 3650
_NETWORKS = tuple(
    map(
        ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "fc00::/7"),
    )
)
_CONFIG = """[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
nameConstraints = critical, @networks
[networks]
permitted;DNS.0 = hob.invalid
{networks}
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
authorityKeyIdentifier = keyid
subjectAltName = IP:{address}
"""


def check_private(address: IPv4Address | IPv6Address) -> None:
    """Raise NotConfigured for an address that the authority does not sign for."""
    if not any(address in network for network in _NETWORKS):
        raise NotConfigured(
            translatable(
                "{address} is not a private address; to use a public one, set gateway.tls_cert",
                address=str(address),
            )
        )


class OwnAuthority:
    """The authority's files in a folder of the home, created by `openssl` on first use. Its methods block."""

    def __init__(self, folder: Path, environ: Mapping[str, str], days: int = DAYS) -> None:
        """`days` is the lifetime of a server certificate; it is renewed 30 days before its end."""
        self._folder = folder
        self._environ = environ
        self._days = days

    @property
    def certificate(self) -> Path:
        """Return the path of the authority's certificate, which may not exist yet."""
        return self._folder / "hob-ca.crt"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of its certificate, as phones show it; empty if there is none."""
        try:
            der = ssl.PEM_cert_to_DER_cert(self.certificate.read_text())
        except (OSError, ValueError):
            return ""
        return hashlib.sha256(der).digest().hex(":").upper()

    def certify(self, address: IPv4Address | IPv6Address) -> Path:
        """Return a certificate for this address with its key, renewing one that expires soon.

        Raises NotConfigured, NotReady.
        """
        check_private(address)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        file = self._folder / f"{str(address).replace(':', '-')}.pem"
        if not self._holds(self.certificate, self._days):
            self._create(address)
        elif self._holds(file, RENEW_DAYS):
            return file
        with TemporaryDirectory(dir=self._folder) as folder:
            config, key, request = (Path(folder) / name for name in ("openssl.cnf", "key.pem", "request.pem"))
            config.write_text(_config("Hob", address))
            write_whole(key, self._key().encode())
            self._openssl("req", "-new", "-config", str(config), "-key", str(key), "-out", str(request))
            signed = self._openssl(
                "x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self._key_file),
                "-set_serial", _serial(), "-days", str(self._days), "-sha256",
                "-extfile", str(config), "-extensions", "server",
            )  # fmt: skip
            write_whole(file, (key.read_text() + signed).encode())
        return file

    def _create(self, address: IPv4Address | IPv6Address) -> None:
        """Create the authority; certificates of an earlier one become invalid."""
        for old in self._folder.glob("*.pem"):
            old.unlink()
        write_whole(self._key_file, self._key().encode())
        name = re.sub(r"[^A-Za-z0-9.-]", "", platform.node())[:40]
        with TemporaryDirectory(dir=self._folder) as folder:
            config = Path(folder) / "openssl.cnf"
            config.write_text(_config(f"Hob on {name or 'this machine'}", address))
            made = self._openssl(
                "req", "-x509", "-new", "-config", str(config), "-extensions", "authority", "-key", str(self._key_file),
                "-set_serial", _serial(), "-days", str(_AUTHORITY_DAYS), "-sha256",
            )  # fmt: skip
        write_whole(self.certificate, made.encode())

    @property
    def _key_file(self) -> Path:
        return self._folder / "hob-ca.key"

    def _holds(self, file: Path, days: int) -> bool:
        with suppress(NotReady):
            self._openssl("x509", "-in", str(file), "-noout", "-checkend", str(days * 86_400))
            return True
        return False

    def _key(self) -> str:
        return self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout")

    def _openssl(self, *arguments: str) -> str:
        return run_program("openssl", *arguments, environ=self._environ)


def _config(name: str, address: IPv4Address | IPv6Address) -> str:
    networks = (f"permitted;IP.{n} = {network.with_netmask}" for n, network in enumerate(_NETWORKS))
    return _CONFIG.format(name=name, networks="\n".join(networks), address=address)


def _serial() -> str:
    return str(secrets.randbits(120) | 1)
