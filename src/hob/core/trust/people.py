"""Who people are, over all channels: one person, many addresses."""

import re

from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass

OWNER_ID = "owner"
"""The person who owns this Hob; always there."""

_WHATSAPP = re.compile(r"\+?([0-9]{5,20})(?::[0-9]{1,3})?(?:@(?:s\.whatsapp\.net|c\.us))?")
_PHONE = re.compile(r"\+?([0-9][0-9 ()./-]{4,30})")
_PREFIXES = {"slack": ("slack:", "user:"), "msteams": ("msteams:", "teams:", "user:"), "signal": ("signal:", "uuid:")}
_PHONES = frozenset({"signal", "sms", "whatsapp", "imessage"})
_EXACT = frozenset({"matrix", "telegram", "discord"})


@dataclass(frozen=True, slots=True, order=True)
class SenderAddress:
    """Where somebody writes from: a channel, their id there in its normal form, and perhaps one account of ours.

    Two spellings of one id are one address; two ids never are. Make it with `of` or `parse`.
    """

    channel: str
    id: str
    account: str = ""

    @classmethod
    def of(cls, channel: str, id: str, account: str = "") -> "SenderAddress":
        """The address of this id as the platform spells it."""
        return cls(channel.casefold(), normal_id(channel.casefold(), id), account)

    @classmethod
    def parse(cls, text: str) -> "SenderAddress":
        """From `channel:id` or `channel@account:id`. Raises ValueError that says how to write it."""
        head, colon, id = text.strip().partition(":")
        channel, _, account = head.partition("@")
        if not (channel and colon and id.strip()):
            raise ValueError(
                translatable("{text} is not an address; write channel:id, e.g. telegram:12345", text=repr(text))
            )
        return cls.of(channel, id, account)

    def anywhere(self) -> "SenderAddress":
        """The same without our account."""
        return SenderAddress(self.channel, self.id)

    def __str__(self) -> str:
        return f"{self.channel}{'@' if self.account else ''}{self.account}:{self.id}"


def normal_id(channel: str, id: str) -> str:
    """The one spelling of a sender's id on this channel. What is not understood stays as it is, whole."""
    text = id.strip()
    for prefix in _PREFIXES.get(channel, ()):
        if text.casefold().startswith(prefix) and len(text) > len(prefix):
            text = text[len(prefix) :]
            break
    if channel == "whatsapp" and (number := _WHATSAPP.fullmatch(text)):
        return f"+{number[1]}"
    if channel in _PHONES and (number := _PHONE.fullmatch(text)):
        return "+" + "".join(sign for sign in number[1] if sign.isdecimal())
    # Folding is for ASCII alone: elsewhere different letters fold to one (the Kelvin sign to k).
    return text if channel in _EXACT or not text.isascii() else text.lower()


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody the owner has let in, or the owner. `cls` is owner or member."""

    id: str
    name: str
    cls: SenderClass
    addresses: tuple[SenderAddress, ...] = ()


@dataclass(frozen=True, slots=True)
class PairingRequest:
    """Somebody unknown who asked to be let in. `code` is what they were told; times are Unix seconds."""

    code: str
    address: SenderAddress
    name: str
    asked: float
    expires: float
    denied: bool = False
