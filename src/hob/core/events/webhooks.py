"""Webhooks of both directions: names, and signatures by Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: what is signed is
`ID.TIMESTAMP.BODY`, with HMAC-SHA256, and written as `v1,BASE64`.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable

from hob.core.translation.language import translatable

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""The headers."""

PREFIX = "whsec_"


_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def check_names(names: Iterable[str]) -> None:
    """Raises ValueError for names that cannot stand in an address as they are."""
    for name in names:
        if not (0 < len(name) <= 60 and set(name) <= _OF_NAMES):
            raise ValueError(
                translatable(
                    "invalid webhook name {name}; use at most 60 small letters, digits, - and _", name=repr(name)
                )
            )


def key_of(secret: str) -> bytes:
    """The key that a secret stands for: what follows `whsec_` is base64, any other text is the key itself.

    Raises ValueError for what follows `whsec_` and is no base64.
    """
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError(translatable("the part after {prefix} is not base64", prefix=PREFIX)) from error


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """The value of the header `webhook-signature`; the timestamp is in Unix seconds. Raises ValueError as `key_of`."""
    seal = hmac.digest(key_of(secret), f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(seal).decode()}"
