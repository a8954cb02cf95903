"""Detection of sensitive data: one call for all kinds, in time linear in the text.

Each detector looks only near a word or character it requires, so plain prose is cheap. All patterns follow the rules of
`patterns`: no text makes them slow.
"""

import re
from collections.abc import Collection, Iterator

from hob.core.screening.credentials import (
    find_api_keys,
    find_bearers,
    find_jwts,
    find_passwords,
    find_pins,
    find_private_keys,
    find_secrets,
)
from hob.core.screening.kinds import SECRETS, SensitiveFinding, SensitiveKind
from hob.core.screening.numbers import find_numbers
from hob.core.screening.personal import find_emails, find_ibans, find_ipv6

# Passwords in pasted commands: options of programs that take one in plain text.

_MAX_LINE = 500  # characters of a command that are examined
_NO_VALUES = "$%<{[(*"  # a variable or a placeholder
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]{0,2}+[\"']?[^\s:\"']{1,64}+:(?P<value>[^\s\"']{3,200}+)")
_PROGRAMS = {
    "curl": _LOGIN,  # https://curl.se/docs/manpage.html#-u
    "mysql": re.compile(r"(?<!\S)-p[\"']?(?P<value>[^\s\"']{3,200}+)"),  # also mysqldump, mysqladmin; -p with no blank
    "mariadb": re.compile(r"(?<!\S)-p[\"']?(?P<value>[^\s\"']{3,200}+)"),
    "sshpass": re.compile(r"(?<!\S)-p[ ]?[\"']?(?P<value>[^\s\"']{3,200}+)"),
}


def find_options(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """Find the passwords in `curl -u name:…`, `mysql -p…` and `sshpass -p …`. A line is examined once per program."""
    for program, option in _PROGRAMS.items():
        at = lowered.find(program)
        while at >= 0:
            end = text.find("\n", at, at + _MAX_LINE)
            end = end if end >= 0 else min(len(text), at + _MAX_LINE)
            for match in option.finditer(text, at, end):
                if match["value"][0] not in _NO_VALUES:
                    yield SensitiveFinding(SensitiveKind.PASSWORD, *match.span("value"))
            at = lowered.find(program, end)


_MAX_PASSES = 3
_NUMBERS = frozenset(
    {
        SensitiveKind.CARD,
        SensitiveKind.SSN,
        SensitiveKind.TAX_ID,
        SensitiveKind.NATIONAL_ID,
        SensitiveKind.IP_ADDRESS,
        SensitiveKind.PHONE,
    }
)


def find_sensitive(text: str, kinds: Collection[str]) -> tuple[SensitiveFinding, ...]:
    """Return the findings of these kinds in order. Overlapping ones are merged into one of the most sensitive kind.

    This includes findings that become visible only after an adjacent one is removed.
    """
    found = merge(_find_once(text, kinds))
    for _ in range(_MAX_PASSES):
        more = _find_once(_mask(text, found), kinds) if found else []
        if not more:
            break
        found = merge([*found, *more])
    return found


def _mask(text: str, found: Collection[SensitiveFinding]) -> str:
    parts: list[str] = []
    at = 0
    for finding in found:
        parts += text[at : finding.start], "[", "X" * (finding.end - finding.start - 2), "]"
        at = finding.end
    return "".join((*parts, text[at:]))


def _find_once(text: str, kinds: Collection[str]) -> list[SensitiveFinding]:
    found: list[SensitiveFinding] = []
    if not SECRETS.isdisjoint(kinds):
        found.extend(finding for finding in _find_secrets(text) if finding.kind in kinds)
    if SensitiveKind.EMAIL in kinds and "@" in text:
        found.extend(find_emails(text))
    if SensitiveKind.IBAN in kinds:
        found.extend(find_ibans(text))
    if SensitiveKind.IP_ADDRESS in kinds and ":" in text:
        found.extend(find_ipv6(text))
    if not _NUMBERS.isdisjoint(kinds):
        found.extend(find_numbers(text, kinds))
    return found


def _find_secrets(text: str) -> Iterator[SensitiveFinding]:
    lowered = lower(text)
    yield from find_api_keys(text)
    yield from find_jwts(text)
    yield from find_private_keys(text)
    yield from find_bearers(text, lowered)
    yield from find_passwords(text, lowered)
    yield from find_pins(text, lowered)
    yield from find_options(text, lowered)
    yield from find_secrets(text, lowered)


def lower(text: str) -> str:
    """Return the text in lower case with all positions kept (one Unicode capital would become two characters)."""
    return text.replace("\u0130", "I").lower()


_WITHOUT_CHECK_DIGIT = (SensitiveKind.IP_ADDRESS, SensitiveKind.PHONE)  # they have no check digit
_ORDER = {kind.value: (kind in _WITHOUT_CHECK_DIGIT) + (kind not in SECRETS) for kind in SensitiveKind}


def merge(found: Collection[SensitiveFinding]) -> tuple[SensitiveFinding, ...]:
    """Return the findings in order, with overlapping ones merged."""
    if len(found) < 2:
        return tuple(found)
    merged: list[SensitiveFinding] = []
    for finding in sorted(found, key=lambda finding: (finding.start, -finding.end)):
        last = merged[-1] if merged else None
        if last is None or finding.start >= last.end:
            merged.append(finding)
        else:
            kind = min(last.kind, finding.kind, key=lambda kind: _ORDER.get(kind, -1))
            merged[-1] = SensitiveFinding(kind, last.start, max(last.end, finding.end))
    return tuple(merged)
