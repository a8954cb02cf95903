"""Signatures of reasoning, which a client must return unchanged."""

import base64
import binascii
from hashlib import blake2b
from hmac import compare_digest

_KEY = b"the fake model server's own"


def sign(text: str) -> str:
    """Return a signature of a text, in base64."""
    return base64.b64encode(b"\x12\x0b" + blake2b(text.encode(), key=_KEY, digest_size=46).digest()).decode()


def is_signed(text: str, signature: object) -> bool:
    """Whether the signature belongs to the text."""
    return isinstance(signature, str) and compare_digest(sign(text).encode(), signature.encode())


def seal(text: str) -> str:
    """Encrypt a text for this server and sign it, in base64."""
    return base64.b64encode(f"{sign(text)}.{text}".encode()).decode()


def unseal(sealed: object) -> str | None:
    """Return the sealed text; None if it was sealed elsewhere or changed since."""
    if not isinstance(sealed, str):
        return None
    try:
        signature, _, text = base64.b64decode(sealed, validate=True).decode().partition(".")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if is_signed(text, signature) else None
