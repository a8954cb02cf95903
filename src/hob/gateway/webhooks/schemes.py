"""Signatures of incoming webhooks: the supported schemes, parsed and compared.

`GITHUB`: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
`STRIPE`: https://docs.stripe.com/webhooks#verify-manually
`STANDARD`: `hob.core.events.webhooks`
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from hob.core.events.webhooks import ID, SIGNATURE, TIMESTAMP, sign

MIN_SECRET = 16
"""Characters; a shorter secret could be guessed."""
_MAX_SIGNATURES = 10
_MAX_ID = 255


class Scheme(StrEnum):
    """How a delivery is signed."""

    HOB = "hob"
    GITHUB = "github"
    STRIPE = "stripe"
    STANDARD = "standard"
    TOKEN = "token"  # noqa: S105 - the name of a scheme


HEADERS: Mapping[Scheme, str] = {
    Scheme.HOB: "x-hob-signature",
    Scheme.GITHUB: "x-hub-signature-256",
    Scheme.STRIPE: "stripe-signature",
    Scheme.STANDARD: SIGNATURE,
    Scheme.TOKEN: "authorization",
}
"""The header of the signature or token, in lower case."""

_IDS = ("x-hob-delivery", "idempotency-key")
"""Headers that identify a delivery without a signature. GitLab sends the second, the same for each retry
(https://docs.gitlab.com/user/project/integrations/webhooks/); request ids are replaced by proxies.
"""


class SignatureInvalid(Exception):
    """The delivery is not proven to be from the sender. The reason is for the owner's log only.

    `sealed`: the failure took as long as hashing the whole body.
    """

    def __init__(self, reason: str, *, sealed: bool = False) -> None:
        super().__init__(reason)
        self.sealed = sealed


def verify(
    scheme: Scheme,
    secrets: Iterable[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: float,
    tolerance: float,
    header: str = "",
) -> str:
    """Return the delivery's id if the signature covers one, else an empty text. Raises SignatureInvalid.

    Header names are in lower case. `tolerance` is the maximum difference in seconds between the signed time and `now`;
    `header` replaces the scheme's usual one. All secrets are compared, in constant time.
    """
    name = header.lower() or HEADERS[scheme]
    proof = headers.get(name, "")
    if not proof:
        raise SignatureInvalid(f"the header {name} is missing")
    match scheme:
        case Scheme.TOKEN:
            proof = proof[7:] if name == "authorization" and proof[:7].lower() == "bearer " else proof
            _compare([proof.strip()], (_hashed(each) for each in secrets), _hashed)
            # the id needs no signature, since the token's holder controls all of it
            return next((f"{each} {headers[each]}" for each in _IDS if headers.get(each)), "")[:_MAX_ID]
        case Scheme.STANDARD:
            id, at = headers.get(ID, ""), _signed_time(headers.get(TIMESTAMP, ""), now, tolerance)
            if not (0 < len(id) <= _MAX_ID):
                raise SignatureInvalid(f"the header {ID} is missing or too long")
            _compare(proof.split(), (sign(each, id, at, body) for each in secrets))
            return id
        case Scheme.STRIPE:
            parts = [part.strip().partition("=")[::2] for part in proof.split(",")]
            stamp = next((value for key, value in parts if key == "t"), "")
            signed = f"{_signed_time(stamp, now, tolerance)}.".encode() + body
            _compare([value for key, value in parts if key == "v1"], (_hex(each, signed) for each in secrets))
        case Scheme.HOB | Scheme.GITHUB:
            digest = proof.strip()[7:] if proof.strip().startswith("sha256=") else ""
            _compare([digest], (_hex(each, body) for each in secrets))
    return ""


def _signed_time(text: str, now: float, tolerance: float) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 12 and str(int(text)) == text):
        raise SignatureInvalid("the time of signing is missing")
    at = int(text)
    if abs(now - at) > tolerance:
        raise SignatureInvalid(f"it was signed {now - at:.0f} s ago, or the clocks differ")
    return at


def _compare(given: list[str], right: Iterable[str], made: Callable[[str], str] = str) -> None:
    """Raise SignatureInvalid unless one of the given values is right. The time does not depend on which one or how
    nearly.
    """
    tries = [made(each).encode("utf-8", "replace") for each in given[:_MAX_SIGNATURES]]
    matches = 0
    for each in right:
        for tried in tries:
            matches += hmac.compare_digest(tried, each.encode())
    if not matches:
        if made is not str:
            raise SignatureInvalid("the token is another one")
        raise SignatureInvalid("the signature is another one", sealed=True)


def _hex(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _hashed(token: str) -> str:
    """Return a hash, so that comparing does not reveal the token's length."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def sign_headers(scheme: Scheme, secret: str, id: str, now: int, body: bytes, header: str = "") -> dict[str, str]:
    """Return the headers that a sender adds to this body; `header` replaces the scheme's usual one."""
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
