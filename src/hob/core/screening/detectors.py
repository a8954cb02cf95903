"""Finding what should perhaps not leave: one call, every kind, in time linear in the text.

Each detector looks only where a word or sign it needs is there at all, so plain prose costs little. All patterns keep
to the rules of `patterns`: no text makes them slow.
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

# Passwords in the commands that people paste: options of programs that take one in the open.

_MAX_LINE = 500  # characters of a command that are looked at
_NO_VALUES = "$%<{[(*"  # a variable, or a mark that stands for a value
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]{0,2}+[\"']?[^\s:\"']{1,64}+:(?P<value>[^\s\"']{3,200}+)")
_PROGRAMS = {
    "curl": _LOGIN,  # https://curl.se/docs/manpage.html#-u
    "mysql": re.compile(r"(?<!\S)-p[\"']?(?P<value>[^\s\"']{3,200}+)"),  # also mysqldump, mysqladmin; -p with no blank
    "mariadb": re.compile(r"(?<!\S)-p[\"']?(?P<value>[^\s\"']{3,200}+)"),
    "sshpass": re.compile(r"(?<!\S)-p[ ]?[\"']?(?P<value>[^\s\"']{3,200}+)"),
}


def find_options(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """What `curl -u name:…`, `mysql -p…` and `sshpass -p …` are given. A line is looked at once for each program."""
    for program, option in _PROGRAMS.items():
        at = lowered.find(program)
        while at >= 0:
            end = text.find("\n", at, at + _MAX_LINE)
            end = end if end >= 0 else min(len(text), at + _MAX_LINE)
            for match in option.finditer(text, at, end):
                if match["value"][0] not in _NO_VALUES:
                    yield SensitiveFinding(SensitiveKind.PASSWORD, *match.span("value"))
            at = lowered.find(program, end)


_MAX_LOOKS = 3
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


def find(text: str, kinds: Collection[str]) -> tuple[SensitiveFinding, ...]:
    """What of these kinds is in the text, in order. Findings that overlap are one, of the most delicate kind.

    What is seen only once something beside it was taken out is found too.
    """
    found = merge(_find(text, kinds))
    for _ in range(_MAX_LOOKS):
        more = _find(_masked(text, found), kinds) if found else []
        if not more:
            break
        found = merge([*found, *more])
    return found


def _masked(text: str, found: Collection[SensitiveFinding]) -> str:
    parts: list[str] = []
    at = 0
    for finding in found:
        parts += text[at : finding.start], "[", "X" * (finding.end - finding.start - 2), "]"
        at = finding.end
    return "".join((*parts, text[at:]))


def _find(text: str, kinds: Collection[str]) -> list[SensitiveFinding]:
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
    """The text in lower case, every character in its place (one capital letter of Unicode becomes two)."""
    return text.replace("\u0130", "I").lower()


_LAST = (SensitiveKind.IP_ADDRESS, SensitiveKind.PHONE)  # no check digit tells them
_ORDER = {kind.value: (kind in _LAST) + (kind not in SECRETS) for kind in SensitiveKind}


def merge(found: Collection[SensitiveFinding]) -> tuple[SensitiveFinding, ...]:
    """The findings in order, those that overlap as one."""
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
