"""Personal numbers: cards, ids, phones, IPv4 addresses.

Only runs of digits and separators long enough for such a number are examined, and each candidate must pass all
available checks: issuer, country, check digit, grouping. A bare run of digits is never a match.
"""

import re
from collections.abc import Callable, Collection, Iterator

from hob.core.screening import checksums
from hob.core.screening.kinds import SensitiveFinding, SensitiveKind
from hob.core.screening.personal import is_word_character

_REGION = re.compile(r"[+(0-9][0-9 ()./\u00a0\u2013-]{6,}")
_STARTS = r"(?<![\w.+-])"
_ENDS = r"(?![0-9]|[.-][0-9])"
_CARD = re.compile(
    _STARTS + r"(?:[0-9]{12,19}|(?:[0-9]{4}[ \u00a0-]){3}[0-9]{1,4}(?:[ \u00a0-][0-9]{1,3})?"
    r"|[0-9]{4}[ \u00a0-][0-9]{6}[ \u00a0-][0-9]{4,5})" + _ENDS
)
_SSN = re.compile(_STARTS + r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9-])")
_TAX_ID = re.compile(_STARTS + r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}" + _ENDS)
_AHV = re.compile(_STARTS + r"756(?:\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}|[0-9]{10})" + _ENDS)
_NIR = re.compile(_STARTS + r"[12] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}" + _ENDS)
_CPF = re.compile(_STARTS + r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}" + _ENDS)
_DNI = re.compile(_STARTS + r"[0-9]{8}-?[A-Z](?!\w)")
_IPV4 = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}" + _ENDS)
_VERSION = re.compile(r"(?:version|release|build|v)[ :=]{0,3}$", re.IGNORECASE)
_SEPARATOR = re.compile(r"[^0-9A-Z]{1,3}")


def find_numbers(text: str, kinds: Collection[str]) -> Iterator[SensitiveFinding]:
    """Find all numbers of these kinds, grouped by region of the text."""
    wanted = [entry for entry in _NUMBERS if entry[0] in kinds]
    for region in _REGION.finditer(text):
        start, end = region.start(), min(region.end() + 2, len(text))  # the end of a number may follow the region
        for kind, pattern, holds in wanted:
            for match in pattern.finditer(text, start, end):
                if holds(match) and not is_word_character(text, match.end()):
                    yield SensitiveFinding(kind, match.start(), match.end())
        if SensitiveKind.PHONE in kinds and not is_word_character(text, start - 1):  # as in an IBAN
            yield from _find_phones(text, start, end)


def _strip_separators(match: re.Match[str]) -> str:
    return _SEPARATOR.sub("", match.group())


def _is_card(match: re.Match[str]) -> bool:
    apart = set(_SEPARATOR.findall(match.group()))
    return len(apart) < 2 and checksums.is_card_number(_strip_separators(match))


def _is_public(match: re.Match[str]) -> bool:
    """Whether the address belongs to a public machine and is not a version number."""
    written = match.group().split(".")
    parts = [int(part) for part in written]
    first, second = parts[:2]
    if max(parts) > 255 or any(part[0] == "0" and part != "0" for part in written) or not any(parts[1:]):
        return False
    local = first in (0, 10, 127) or first >= 224 or (first, second) in ((192, 168), (169, 254))
    local = local or (first == 172 and 16 <= second < 32) or (first == 100 and 64 <= second < 128)
    documentation = parts[:3] in ([192, 0, 2], [198, 51, 100], [203, 0, 113])  # RFC 5737
    before = match.string[max(0, match.start() - 12) : match.start()]
    return not local and not documentation and _VERSION.search(before) is None


_NUMBERS: tuple[tuple[SensitiveKind, re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    (SensitiveKind.CARD, _CARD, _is_card),
    (SensitiveKind.SSN, _SSN, lambda match: match.group() not in ("078-05-1120", "219-09-9999")),  # printed in adverts
    (SensitiveKind.TAX_ID, _TAX_ID, lambda match: checksums.is_german_tax_id(_strip_separators(match))),
    (SensitiveKind.NATIONAL_ID, _AHV, lambda match: checksums.is_swiss_ahv(_strip_separators(match))),
    (SensitiveKind.NATIONAL_ID, _NIR, lambda match: checksums.is_french_nir(_strip_separators(match))),
    (SensitiveKind.NATIONAL_ID, _CPF, lambda match: checksums.is_brazilian_cpf(_strip_separators(match))),
    (SensitiveKind.NATIONAL_ID, _DNI, lambda match: checksums.is_spanish_dni(_strip_separators(match))),
    (SensitiveKind.IP_ADDRESS, _IPV4, _is_public),
)

# Phones: with a country code, in North American grouping, with a separate area code, or after a word for phone.

_CODES = """
    7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86
    90 91 92 93 94 95 98 211 212 213 216 218 880 886
    220-269 290-299 350-359 370-389 420-423 500-509 590-599 670-692 850-856 960-977 992-998
    """
_COUNTRIES = frozenset(
    str(code)
    for codes in _CODES.split()
    for code in range(int(codes.partition("-")[0]), int(codes.rpartition("-")[2]) + 1)
)
"""Country codes except North America's, approximately. Source: ITU-T E.164, list of assigned country codes."""

_SEPARATED = r"(?:[ ./()\u00a0\u2013-]{0,3}+[0-9])"
_INTERNATIONAL = re.compile(r"(?<![\w.+-])\(?(?:\+|00)(?=[1-9])[0-9]" + _SEPARATED + "{8,14}+")
_AMERICAN = re.compile(
    r"(?<![\w.+-])(?:\+?1[ .-]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[.-][0-9]{4}" + _ENDS
)
_AMERICAN_PLAIN = re.compile(r"(?<![\w.+-])\+1[ .-]?[2-9][0-9]{2}[ .-]?[2-9][0-9]{2}[ .-]?[0-9]{4}" + _ENDS)
_NATIONAL = re.compile(r"(?<![\w.+/,-])\(?0[1-9][0-9]{1,4}+\)?(?:[ /\u2013-]{1,3}+[0-9]{2,9}+){1,5}+")
_FRENCH = re.compile(r"(?<![\w.+/,-])0[1-9](?:[ .-][0-9]{2}){4}(?![ .-]?[0-9])")
_ANY = re.compile(r"[+(]{0,2}[0-9]" + _SEPARATED + "{6,14}+")
_NAMED = re.compile(
    r"(?:(?<!\w)(?>telefon|telephone|tel|phone|mobile|mobil|handy|fax|whatsapp|cell|call me at|call|unter)"
    r"(?>[- ]?(?:nummer|number|nr|no))?\.?[:= ]{1,3}|[\u260e\U0001f4de\U0001f4f1\ufe0f] ?)$",
    re.IGNORECASE,
)
_DATE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4}(?![0-9])|(?:19|20)[0-9]{6}(?![0-9])")


def _find_phones(text: str, start: int, end: int) -> Iterator[SensitiveFinding]:
    for pattern in (_AMERICAN, _AMERICAN_PLAIN, _FRENCH):
        for match in pattern.finditer(text, start, end):
            if not is_word_character(text, match.end()) and len(set(_SEPARATOR.findall(match.group()[3:]))) < 3:
                yield SensitiveFinding(SensitiveKind.PHONE, match.start(), match.end())
    for match in _INTERNATIONAL.finditer(text, start, end):
        if _is_international(_strip_separators(match)) and not is_word_character(text, match.end()):
            yield SensitiveFinding(SensitiveKind.PHONE, match.start(), match.end())
    for match in _NATIONAL.finditer(text, start, end):
        size = _national_size(match.group())
        if size and not is_word_character(text, match.start() + size) and not _DATE.match(text, match.start()):
            yield SensitiveFinding(SensitiveKind.PHONE, match.start(), match.start() + size)
    if _NAMED.search(text[max(0, start - 30) : start]):
        named = _ANY.match(text, start, end)
        if named and not is_word_character(text, named.end()) and not _DATE.match(text, start):
            yield SensitiveFinding(SensitiveKind.PHONE, start, named.end())


def _is_international(digits: str) -> bool:
    number = digits.removeprefix("00")
    return any(number[:size] in _COUNTRIES for size in (1, 2, 3)) and 9 <= len(number) <= 15


_GROUP = re.compile(r"[0-9]{1,20}")


def _national_size(written: str) -> int:
    """Return the combined length of an area code and number, nine to twelve digits; 0 if it is not a phone number."""
    groups = [match.span() for match in _GROUP.finditer(written)]
    sizes = [end - start for start, end in groups]
    while sum(sizes) > 12 and len(sizes) > 2:
        sizes.pop()
    even = len(set(sizes)) == 1 and len(sizes) > 2  # serial numbers have groups of equal size
    fits = 9 <= sum(sizes) <= 12 and not even and written.count("-") < 3
    return groups[len(sizes) - 1][1] if fits else 0
