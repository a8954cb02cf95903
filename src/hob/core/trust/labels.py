"""Origin and trust of content (architecture, section 8)."""

from collections.abc import Iterable
from enum import StrEnum

from hob.core.values import dataclass


class Origin(StrEnum):
    """Source of a piece of content."""

    OWNER = "owner"
    MEMBER = "member"
    STRANGER = "stranger"
    PEER = "peer"
    HOB = "hob"
    MODEL = "model"
    IDENTITY = "identity"
    STDIN = "stdin"
    CLIENT = "client"
    FILE = "file"
    WEB = "web"
    MAIL = "mail"
    MCP = "mcp"
    TOOL = "tool"


class Trust(StrEnum):
    """Whether a text may count as the owner's will."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Label:
    """Origin and trust of a piece of content, attached from its arrival to the prompt."""

    origin: Origin
    trust: Trust

    @property
    def trusted(self) -> bool:
        return self.trust is Trust.TRUSTED


OWNER_LABEL = Label(Origin.OWNER, Trust.TRUSTED)
HOB_LABEL = Label(Origin.HOB, Trust.TRUSTED)


def combine_trust(labels: Iterable[Label]) -> Trust:
    """Return the trust of content made from these parts: trusted only if every part is."""
    return Trust.TRUSTED if all(label.trusted for label in labels) else Trust.UNTRUSTED


class SenderClass(StrEnum):
    """How well the sender is known, best known first."""

    OWNER = "owner"
    MEMBER = "member"
    STRANGER = "stranger"


def least_trusted(senders: Iterable[SenderClass]) -> SenderClass:
    """Return the least known of these sender classes; `OWNER` if there are none."""
    return max(senders, key=list(SenderClass).index, default=SenderClass.OWNER)
