"""People across channels: one person, many addresses."""

import re

from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass

OWNER_ID = "owner"
"""The person who owns this Hob; always exists."""

_WHATSAPP = re.compile(r"\+?([0-9]{5,20})(?::[0-9]{1,3})?(?:@(?:s\.whatsapp\.net|c\.us))?")
_PHONE = re.compile(r"\+?([0-9][0-9 ()./-]{4,30})")
_PREFIXES = {"slack": ("slack:", "user:"), "msteams": ("msteams:", "teams:", "user:"), "signal": ("signal:", "uuid:")}
_PHONES = frozenset({"signal", "sms", "whatsapp", "imessage"})
_EXACT = frozenset({"matrix", "telegram", "discord"})


@dataclass(frozen=True, slots=True, order=True)
class SenderAddress:
    """Address of a person: a channel, their normalized id on it, and optionally one of our accounts.

    Two spellings of one id are the same address; two ids never are. Use `of` or `parse` to make one.
    """

    channel: str
    id: str
    account: str = ""

    @classmethod
    def of(cls, channel: str, id: str, account: str = "") -> "SenderAddress":
        """Return the address of an id as spelled by the platform."""
        return cls(channel.casefold(), normalize_id(channel.casefold(), id), account)

    @classmethod
    def parse(cls, text: str) -> "SenderAddress":
        """Parse `channel:id` or `channel@account:id`. Raises ValueError with the expected form."""
        head, colon, id = text.strip().partition(":")
        channel, _, account = head.partition("@")
        if not (channel and colon and id.strip()):
            raise ValueError(
                translatable("{text} is not an address; write channel:id, e.g. telegram:12345", text=repr(text))
            )
        return cls.of(channel, id, account)

    def without_account(self) -> "SenderAddress":
        """Return the address without our account."""
        return SenderAddress(self.channel, self.id)

    def __str__(self) -> str:
        return f"{self.channel}{'@' if self.account else ''}{self.account}:{self.id}"


def normalize_id(channel: str, id: str) -> str:
    """Return the canonical spelling of a sender's id on this channel; unknown forms are unchanged."""
    text = id.strip()
    for prefix in _PREFIXES.get(channel, ()):
        if text.casefold().startswith(prefix) and len(text) > len(prefix):
            text = text[len(prefix) :]
            break
    if channel == "whatsapp" and (number := _WHATSAPP.fullmatch(text)):
        return f"+{number[1]}"
    if channel in _PHONES and (number := _PHONE.fullmatch(text)):
        return "+" + "".join(sign for sign in number[1] if sign.isdecimal())
    # Case folding is for ASCII only: elsewhere it merges different letters (the Kelvin sign and k).
    return text if channel in _EXACT or not text.isascii() else text.lower()


@dataclass(frozen=True, slots=True)
class Person:
    """The owner, or a person the owner has admitted. `cls` is owner or member."""

    id: str
    name: str
    cls: SenderClass
    addresses: tuple[SenderAddress, ...] = ()


@dataclass(frozen=True, slots=True)
class PairingRequest:
    """A stranger's request to be admitted. `code` is the code they were given; times are Unix seconds."""

    code: str
    address: SenderAddress
    name: str
    asked: float
    expires: float
    denied: bool = False
