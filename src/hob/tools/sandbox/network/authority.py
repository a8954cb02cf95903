"""A certificate authority that exists for one command, and only for the hosts with a credential.

Requires the library `cryptography`. Certificates follow RFC 5280; the authority's key does not leave this process.
"""

import os
import ssl
from collections.abc import Iterable
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hob.tools.sandbox.network.hosts import host_name

_LIFE = timedelta(days=30)  # tool servers may run for a long time
_EARLY = timedelta(days=1)


class RunAuthority:
    """Issues certificates for these hosts. `pem` is the root that the command must trust."""

    def __init__(self, hosts: Iterable[str], now: datetime) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._now = now
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Hob's proxy, for one command")])
        permitted = [x509.DNSName(host) for host in hosts]
        certificate = (
            self._begun(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .add_extension(x509.NameConstraints(permitted, None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = certificate.public_bytes(serialization.Encoding.PEM)

    def context(self, host: str) -> ssl.SSLContext:
        """Return the TLS context for serving this host. Clients that name another host are refused."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            self._begun(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])]), key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        _load(context, certificate.public_bytes(serialization.Encoding.PEM) + private)

        def named(_socket: object, name: str | None, _context: ssl.SSLContext) -> int | None:
            return None if host_name(name or "") == host else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

        context.sni_callback = named
        return context

    def _begun(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _EARLY)
            .not_valid_after(self._now + _LIFE)
        )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """Load certificate and key from memory, although `ssl` reads only files, because a key must not be in a file."""
    fd = os.memfd_create("hob", os.MFD_CLOEXEC)
    try:
        os.write(fd, pem)
        context.load_cert_chain(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)
