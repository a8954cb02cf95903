"""Kinds of sensitive data."""

from collections.abc import Mapping
from enum import StrEnum

from hob.core.translation.language import join_texts, translatable
from hob.core.values import dataclass


class SensitiveKind(StrEnum):
    """A kind of data that the detectors find."""

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


SECRETS = frozenset(
    {
        SensitiveKind.API_KEY,
        SensitiveKind.JWT,
        SensitiveKind.PRIVATE_KEY,
        SensitiveKind.BEARER,
        SensitiveKind.PASSWORD,
        SensitiveKind.SECRET,
    }
)
PII = frozenset(SensitiveKind) - SECRETS

KIND_NAMES: Mapping[str, str] = {
    SensitiveKind.EMAIL: "an e-mail address",
    SensitiveKind.PHONE: "a phone number",
    SensitiveKind.CARD: "a card number",
    SensitiveKind.IBAN: "an IBAN",
    SensitiveKind.SSN: "a social security number",
    SensitiveKind.TAX_ID: "a tax number",
    SensitiveKind.NATIONAL_ID: "a national id",
    SensitiveKind.IP_ADDRESS: "an IP address",
    SensitiveKind.API_KEY: "an API key",
    SensitiveKind.JWT: "a signed token",
    SensitiveKind.PRIVATE_KEY: "a private key",
    SensitiveKind.BEARER: "a bearer token",
    SensitiveKind.PASSWORD: "a password",
    SensitiveKind.SECRET: "a secret",
}
"""Names of the kinds for people."""


@dataclass(frozen=True, slots=True)
class SensitiveFinding:
    """Characters `start` to `end` of a text are a `SensitiveKind`, or match one of the owner's named patterns."""

    kind: str
    start: int
    end: int


def describe_kinds(kinds: tuple[str, ...]) -> str:
    """Return the kinds as one phrase; unknown kinds are names of the owner's patterns."""
    return join_texts(", ", (translatable(KIND_NAMES[kind]) if kind in KIND_NAMES else f"“{kind}”" for kind in kinds))
