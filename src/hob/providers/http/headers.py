"""Headers set by the owner: validation, and the secrets in them."""

import re
from collections.abc import Mapping

# https://www.rfc-editor.org/rfc/rfc9110#section-5.5; servers interpret bytes beyond ASCII differently
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_MIN_SECRET = 8


def find_invalid_header(headers: Mapping[str, str]) -> str | None:
    """Return the name of an invalid header; None if all are valid."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            return name
    return None


def find_secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that may be secret, with and without a leading word such as `Bearer`."""
    values = (part for value in headers.values() for part in (value, *value.split()[-1:]))
    return tuple(dict.fromkeys(part for part in values if len(part) >= _MIN_SECRET))
