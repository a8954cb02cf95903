"""A server's time, from the `Date` header of its answer (RFC 9110, section 6.6.1)."""

import ssl
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

_SECONDS = 3.0


def server_time(url: str) -> float | None:
    """Return a server's time in Unix seconds, or None if it sends none. Sends only `HEAD /`."""
    try:
        parts = urlsplit(url)
        if parts.hostname is None:
            return None
        if parts.scheme == "https":
            # with a wrong clock every certificate looks invalid; nothing is sent, and only the date is read
            careless = ssl.create_default_context()
            careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
            connection: HTTPConnection = HTTPSConnection(parts.hostname, parts.port, timeout=_SECONDS, context=careless)
        else:
            connection = HTTPConnection(parts.hostname, parts.port, timeout=_SECONDS)
        try:
            connection.request("HEAD", "/")
            date = connection.getresponse().getheader("date")
        finally:
            connection.close()
        return None if date is None else parsedate_to_datetime(date).timestamp()
    except (OSError, HTTPException, ValueError):
        return None
