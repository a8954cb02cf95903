"""Headers that an owner sets up: whether they can be sent, and what of them no one else may read."""

import re
from collections.abc import Mapping

# https://www.rfc-editor.org/rfc/rfc9110#section-5.5; of bytes beyond ASCII servers make what they like
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_MIN_SECRET = 8


def find_wrong_header(headers: Mapping[str, str]) -> str | None:
    """The name of a header that cannot be sent; None where all can."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            return name
    return None


def secrets_of(headers: Mapping[str, str]) -> tuple[str, ...]:
    """What the values may keep secret, with and without the word before it (`Bearer`)."""
    values = (part for value in headers.values() for part in (value, *value.split()[-1:]))
    return tuple(dict.fromkeys(part for part in values if len(part) >= _MIN_SECRET))
