"""Normalised addresses, which are equal exactly if they lead to the same place.

A spelling that two programs might read differently has no normal form and matches nothing. Mail addresses are the
dot-atoms of RFC 5322 (ASCII), host names those of RFC 1123 after IDNA (RFC 3490), telephone numbers E.164.
"""

import posixpath
import re
import unicodedata
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from hob.core.values import dataclass

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_MAIL = re.compile(rf"({_ATOM}(?:\.{_ATOM})*)@([^@\s]+)")
_NAMED_MAIL = re.compile(r"[^<>@,;:\"\\]*<([^<>\s]+)>")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_V4 = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)", re.ASCII)
_PHONE = re.compile(r"(?:tel:)?(\+|00)?[\d \-/().]{6,32}", re.ASCII)
_HANDLE = re.compile(r"[@#][a-z0-9][a-z0-9_.-]{1,63}(?::[a-z0-9.-]+)?")
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?")
_OPAQUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:=@-]{4,127}")
_PORTS = {"http": 80, "https": 443}
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")


class TargetKind(StrEnum):
    """Kinds of addresses."""

    MAIL = "mail"
    PHONE = "phone"
    HANDLE = "handle"
    HOST = "host"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Target:
    """A normalised address. Equal ones lead to the same place; addresses of different kinds are never equal."""

    kind: TargetKind
    value: str


def mail(text: str) -> Target | None:
    """Parse a mail address, also as `Name <address>`. Plus-addressing is kept, because it may lead elsewhere."""
    text = text.strip()
    if (named := _NAMED_MAIL.fullmatch(text)) is not None:
        text = named[1]
    text = text[7:] if text[:7].lower() == "mailto:" else text
    found = _MAIL.fullmatch(text)
    if found is None or len(found[1]) > 64:
        return None
    domain = host_name(found[2])
    return Target(TargetKind.MAIL, f"{found[1].lower()}@{domain}") if domain and "." in domain else None


def phone(text: str, country: str = "") -> Target | None:
    """Parse a telephone number. A national one needs the country code (digits)."""
    text = text.strip()
    found = _PHONE.fullmatch(text)
    if found is None:
        return None
    digits = re.sub(r"\D", "", text.replace("(0)", ""))
    if found[1] is None:
        if not country or not digits.startswith("0"):
            return None
        digits = country + digits[1:]
    elif found[1] == "00":
        digits = digits[2:]
    return Target(TargetKind.PHONE, "+" + digits) if 7 <= len(digits) <= 15 and digits[0] != "0" else None


def handle(text: str) -> Target | None:
    """Parse `@name`, `#room` or `@name:server` as chat platforms write them; ASCII, case-insensitive."""
    lowered = text.strip().lower()
    return Target(TargetKind.HANDLE, lowered) if _HANDLE.fullmatch(lowered) and not lowered.endswith(".") else None


def host(text: str) -> Target | None:
    """Parse a host name or IPv4 address, with the port unless it is a default web port."""
    name, colon, port = text.strip().partition(":")
    if colon and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        return None
    plain = host_name(name)
    if not plain:
        return None
    return Target(TargetKind.HOST, f"{plain}:{int(port)}" if colon and int(port) not in _PORTS.values() else plain)


def host_of(url: str) -> Target | None:
    """Return the host of a URL, or None if programs might disagree about it."""
    if not is_plain_url(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.hostname is None:
        return None
    return host(parts.hostname if port is None or port == _PORTS[parts.scheme] else f"{parts.hostname}:{port}")


def is_plain_url(url: str) -> bool:
    """Return whether every program reads this URL the same way: no user part, backslash or space."""
    if any(char.isspace() or not char.isprintable() or char in '\\<>"' for char in url):
        return False
    try:
        parts = urlsplit(url)
        authority = parts.netloc
        named = bool(host_name(parts.hostname or ""))
    except ValueError:
        return False
    return parts.scheme in _PORTS and url.startswith(f"{parts.scheme}://") and "@" not in authority and named


def host_name(text: str) -> str:
    """Return the name in ASCII and lower case without the final dot; "" if it is invalid or mixes scripts."""
    name = text.removesuffix(".").lower()
    if not name.isascii():
        # only some programs treat U+3002 as a dot
        if (
            "\u3002" in name
            or unicodedata.normalize("NFKC", name).lower() != name
            or any(_mixed(label) for label in name.split("."))
        ):
            return ""
        try:
            name = name.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return ""
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return ""
    if labels[-1].isdigit() or re.fullmatch(r"0x[0-9a-f]*", labels[-1]):
        return name if _V4.fullmatch(name) else ""
    return name


def _mixed(label: str) -> bool:
    """Return whether the label mixes scripts that look alike."""
    names = [unicodedata.name(char, "") for char in label if char.isalpha()]
    return len({script for script in _SCRIPTS for name in names if name.startswith(script)}) > 1


def recipient(text: str, country: str = "") -> Target | None:
    """Parse an address of any kind, trying the most specific kind first."""
    text = text.strip()
    if not text or not text.isprintable():
        return None
    if _IBAN.fullmatch(text) is not None:
        text = text.replace(" ", "")
    found = mail(text) or phone(text, country) or handle(text)
    if found is not None or "@" in text:
        return found
    return Target(TargetKind.OPAQUE, text) if _OPAQUE.fullmatch(text) else None


def path(text: str, *, base: str, home: str) -> str:
    """Return the absolute path without `.`, `..` and double slashes, or "" if the text cannot be a path.

    Links are not followed here; whatever opens the file must do that.
    """
    name = text
    if name[:5].lower() == "file:":
        name = unquote(name[5:])
        name = "/" + name.removeprefix("//localhost").lstrip("/") if name.startswith("/") else name
    name = unicodedata.normalize("NFC", name)
    if not name or "\0" in name:
        return ""
    if name == "~" or name.startswith("~/"):
        name = home + name[1:]
    return "/" + posixpath.normpath(posixpath.join(base or "/", name)).lstrip("/")


def is_within(inner: str, outer: str) -> bool:
    """Return whether a normalised path is this folder or inside it, ignoring case."""
    inner, outer = inner.casefold(), outer.rstrip("/").casefold()
    return inner == outer or inner.startswith(outer + "/")


def ascii_form(text: str) -> str:
    """Return the ASCII form of an internationalised host name or mail address, or "" if there is none."""
    if text.isascii():
        return ""
    before, at, name = text.rpartition("@")
    try:
        return before + at + name.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
