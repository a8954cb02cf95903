"""What is looked for in texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """One thing that detectors know."""

    EMAIL = "email"
    PHONE = "phone"
    CARD = "card"
    IBAN = "iban"
    SSN = "ssn"
    TAX_ID = "tax_id"
    NATIONAL_ID = "national_id"
    IP_ADDRESS = "ip_address"
    API_KEY = "api_key"
    JWT = "jwt"
    PRIVATE_KEY = "private_key"
    BEARER = "bearer"
    PASSWORD = "password"  # noqa: S105 - a kind, not one
    SECRET = "secret"  # noqa: S105


SECRETS = frozenset({Kind.API_KEY, Kind.JWT, Kind.PRIVATE_KEY, Kind.BEARER, Kind.PASSWORD, Kind.SECRET})
PII = frozenset(Kind) - SECRETS

WORDS: Mapping[str, str] = {
    Kind.EMAIL: "an e-mail address",
    Kind.PHONE: "a phone number",
    Kind.CARD: "a card number",
    Kind.IBAN: "an IBAN",
    Kind.SSN: "a social security number",
    Kind.TAX_ID: "a tax number",
    Kind.NATIONAL_ID: "a national id",
    Kind.IP_ADDRESS: "an IP address",
    Kind.API_KEY: "an API key",
    Kind.JWT: "a signed token",
    Kind.PRIVATE_KEY: "a private key",
    Kind.BEARER: "a bearer token",
    Kind.PASSWORD: "a password",
    Kind.SECRET: "a secret",
}
"""The kinds as people call them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Characters `start` to `end` of a text are of this kind: a `Kind`, or the name of one of the owner's patterns."""

    kind: str
    start: int
    end: int


def describe(kinds: tuple[str, ...]) -> str:
    """The kinds in one phrase; what is not ours is a pattern of the owner's."""
    return ", ".join(WORDS.get(kind) or f"“{kind}”" for kind in kinds)
