"""The API's configured certificate, if phones can use it too."""

import re
import socket
from collections.abc import Mapping
from contextlib import suppress

from hob.app.phone.access import GivenCertificate
from hob.app.phone.programs import run_program
from hob.core.errors import HobError


def matching_name(given: GivenCertificate, address: str, environ: Mapping[str, str], *names: str) -> str:
    """Return the certificate's name for this address: one of `names`, the address itself, or a name that resolves to
    it.

    Empty if it has none, has expired, or is self-signed, so that phones would not trust it. Blocks.
    """
    try:
        said = run_program(
            "openssl", "x509", "-in", str(given.certificate), "-noout", "-checkend", "0", "-issuer", "-subject",
            "-ext", "subjectAltName", environ=environ,
        )  # fmt: skip
    except HobError:
        return ""
    issuer, subject = (re.search(rf"^{name}=\s*(.*)$", said, re.M) for name in ("issuer", "subject"))
    if issuer is None or subject is None or issuer[1] == subject[1]:
        return ""
    held = re.findall(r"\b(?:DNS|IP Address):([^\s,]+)", said)
    fitting = (each for each in held if each in (address, *names) or _leads(each, address))
    return next(fitting, "")


def _leads(name: str, address: str) -> bool:
    if "*" in name:
        return False
    with suppress(OSError, UnicodeError):
        return any(found[4][0] == address for found in socket.getaddrinfo(name, None))
    return False
