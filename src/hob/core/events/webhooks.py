"""Incoming and outgoing webhooks: names, and signatures by Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: the signature covers
`ID.TIMESTAMP.BODY`, uses HMAC-SHA256 and is written as `v1,BASE64`.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable

from hob.core.translation.language import translatable

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""Header names."""

PREFIX = "whsec_"


_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def check_webhook_names(names: Iterable[str]) -> None:
    """Raise ValueError if a name cannot be part of a URL as it is."""
    for name in names:
        if not (0 < len(name) <= 60 and set(name) <= _NAME_CHARACTERS):
            raise ValueError(
                translatable(
                    "invalid webhook name {name}; use at most 60 small letters, digits, - and _", name=repr(name)
                )
            )


def decode_key(secret: str) -> bytes:
    """Return the key for a secret: base64 after `whsec_`, or the text itself.

    Raises ValueError if the part after `whsec_` is not base64.
    """
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError(translatable("the part after {prefix} is not base64", prefix=PREFIX)) from error


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """Return the `webhook-signature` header for a timestamp in Unix seconds. Raises ValueError like `decode_key`."""
    seal = hmac.digest(decode_key(secret), f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(seal).decode()}"
