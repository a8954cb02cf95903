"""Personal data other than plain numbers: mail addresses, bank accounts, IPv6 addresses."""

import re
from collections.abc import Iterator

from hob.core.screening import checksums
from hob.core.screening.kinds import SensitiveFinding, SensitiveKind

_MAX_LOCAL = 64  # RFC 5321, 4.5.3.1
_LOCAL = re.compile(r"[\w.+%'-]+")
_DOMAIN = re.compile(r"[\w.-]{1,255}")
_ENDINGS = "png jpg jpeg gif svg webp avif ico css js ts jsx tsx mjs py rb java html txt json yaml yml toml xml pdf zip"
_LOGIN = re.compile(r"://(?:[^\s/@:]{1,64}+:)?$")
_FILE_ENDINGS = frozenset(_ENDINGS.split())  # logo@2x.png is not an address

# A pattern that begins with a character set skips through the text fast; one with a lookbehind does not.
_IBAN_HEAD = re.compile(r"[A-Z]{2}[0-9]{2}")
_IPV6 = re.compile(r"[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{2,34}(?![\w:])")


def find_emails(text: str) -> Iterator[SensitiveFinding]:
    """Find mail addresses whose top-level domain is a name."""
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.match(text[max(0, at - _MAX_LOCAL) : at][::-1])
        domain = _DOMAIN.match(text, at + 1)
        if local and domain:
            start, end = at - local.end(), domain.end()
            while start < at and text[start] in ".'-%+":
                start += 1
            while end > at and text[end - 1] in ".-_":
                end -= 1
            if start < at and _is_domain(text[at + 1 : end]) and not _is_remote(text, start, at, end):
                yield SensitiveFinding(SensitiveKind.EMAIL, start, end)
        at = text.find("@", at + 1)


def _is_domain(domain: str) -> bool:
    labels = domain.split(".")
    top = labels[-1].lower()
    named = (top.isalpha() and 2 <= len(top) <= 24 and top not in _FILE_ENDINGS) or top.startswith("xn--")
    return len(labels) > 1 and named and all(0 < len(label) <= 63 for label in labels)


def _is_remote(text: str, start: int, at: int, end: int) -> bool:
    """Whether this is a login of a program (`git@host:path`, `ssh://user@host`) rather than a mailbox."""
    login = _LOGIN.search(text[max(0, start - 80) : start])
    return login is not None or (text[start:at] == "git" and text[end : end + 1] in (":", "/"))


def find_ibans(text: str) -> Iterator[SensitiveFinding]:
    """Find account numbers, in one piece or in groups."""
    for head in _IBAN_HEAD.finditer(text):
        size = checksums.IBAN_LENGTHS.get(head.group()[:2], 0)
        signs, end = _collect(text, head.start(), size, " \u00a0-")
        alone = not (is_word_character(text, head.start() - 1) or is_word_character(text, end))
        if alone and len(signs) == size and checksums.is_iban(signs):
            yield SensitiveFinding(SensitiveKind.IBAN, head.start(), end)


def find_ipv6(text: str) -> Iterator[SensitiveFinding]:
    """Find public addresses (2000::/3), except those reserved for documentation (RFC 3849)."""
    for match in _IPV6.finditer(text):
        groups = match.group().rstrip(":").split(":")
        gaps = match.group().count("::")
        whole = len(groups) <= 8 and gaps in ((1,) if len(groups) < 8 else (0, 1))
        documentation = match.group().lower().startswith(("2001:db8:", "2001:0db8:"))
        before = match.start() - 1
        alone = not is_word_character(text, before) and not text.startswith((":", "."), max(0, before))
        if whole and alone and not documentation and all(len(group) <= 4 for group in groups):
            yield SensitiveFinding(
                SensitiveKind.IP_ADDRESS, match.start(), match.start() + len(match.group().rstrip(":"))
            )


def _collect(text: str, at: int, size: int, separators: str) -> tuple[str, int]:
    """Return the next `size` letters and digits, with at most one separator between two, and where they end."""
    signs: list[str] = []
    end, apart = at, False
    for place in range(at, min(len(text), at + 2 * size)):
        sign = text[place]
        if sign in separators and signs and not apart:
            apart = True
            continue
        if len(signs) == size or not (sign.isascii() and sign.isalnum()):
            break
        signs.append(sign)
        end, apart = place + 1, False
    return "".join(signs), end


def is_word_character(text: str, at: int) -> bool:
    """Whether the character at this position is part of a word."""
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")
