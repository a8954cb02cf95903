"""A delivery as a webhook's sender would sign it, for trying it out."""

import hmac

from hob.core.webhooks import ID, TIMESTAMP, sign
from hob.gateway.webhooks.schemes import HEADERS, Scheme


def signed(scheme: Scheme, secret: str, id: str, now: int, body: bytes, header: str = "") -> dict[str, str]:
    """The headers that go with this body; `header` is where the proof stands, if elsewhere than usual."""
    name = header.lower() or HEADERS[scheme]
    match scheme:
        case Scheme.HOB | Scheme.GITHUB:
            return {name: f"sha256={_hex(secret, body)}"}
        case Scheme.STRIPE:
            return {name: f"t={now},v1={_hex(secret, f'{now}.'.encode() + body)}"}
        case Scheme.STANDARD:
            return {ID: id, TIMESTAMP: str(now), name: sign(secret, id, now, body)}
        case Scheme.TOKEN:
            return {name: f"Bearer {secret}" if name == "authorization" else secret, "x-hob-delivery": id}


def _hex(secret: str, signed: bytes) -> str:
    return hmac.digest(secret.encode(), signed, "sha256").hex()
