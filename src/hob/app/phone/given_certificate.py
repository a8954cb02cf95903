"""The certificate that the owner has given the API, where it is good for phones too."""

import re
import socket
from collections.abc import Mapping
from contextlib import suppress

from hob.app.phone.access import GivenCertificate
from hob.app.phone.programs import said_by
from hob.core.errors import HobError


def known_name(given: GivenCertificate, address: str, environ: Mapping[str, str], *names: str) -> str:
    """By which of its names phones reach this address: one of `names`, the address itself, or one that leads there.

    Empty where it has none of them, has ended, or was signed by nobody else: no phone would know it. Blocks.
    """
    try:
        said = said_by(
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
