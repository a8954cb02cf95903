"""Settings of admission: who may talk to Hob, how much, with which files; passphrase, pairing, limits."""

from collections.abc import Sequence
from enum import StrEnum

from hob.core.content.file_limits import LARGEST_FILE
from hob.core.messages import Address
from hob.core.settings import Secret, setting
from hob.core.translation.language import joined
from hob.core.trust.people import SenderAddress
from hob.core.values import dataclass

_MEDIA = [
    "image/*",
    "audio/*",
    "video/*",
    "text/plain",
    "text/html",
    "application/pdf",
    "application/rtf",
    "application/xml",
    "application/epub+zip",
    "application/vnd.oasis.opendocument.*",
    "application/vnd.openxmlformats-officedocument.*",
]


class DmPolicy(StrEnum):
    """What becomes of unknown people who write to Hob directly."""

    PAIRING = "pairing"
    ALLOWLIST = "allowlist"
    OPEN = "open"
    DISABLED = "disabled"


class GroupPolicy(StrEnum):
    """In which groups Hob answers."""

    ALLOWLIST = "allowlist"
    OPEN = "open"
    DISABLED = "disabled"


_DM = ("", *(policy.value for policy in DmPolicy))
_GROUP = ("", *(policy.value for policy in GroupPolicy))


@dataclass(frozen=True, slots=True)
class ChannelAdmission:
    """What is different on one channel; what is left empty is as everywhere."""

    dm_policy: str = setting("", "What becomes of unknown people who write directly.", one_of=_DM)
    group_policy: str = setting("", "In which groups Hob answers.", one_of=_GROUP)
    mention: bool | None = setting(None, "Whether Hob answers in groups only when it is meant.")
    trigger: str | None = setting(None, "The word that a message for Hob begins with.")


@dataclass(frozen=True, slots=True)
class ActionLimits:
    """How often one sender may make Hob act on the world. What only reads is not counted."""

    apps: dict[str, int] = setting({"mail": 3, "calendar": 10}, "Most actions a minute by app.", at_least=0)
    per_minute: int = setting(30, "Most actions a minute with any other app.", at_least=1)
    spike: int = setting(10, "More actions a minute than this, in all apps, are a spike.", at_least=1)
    cooldown_seconds: float = setting(300.0, "Seconds without actions after a spike.", at_least=0)


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """Who may talk to Hob. The terminal and the API are always yours."""

    dm_policy: DmPolicy = setting(
        DmPolicy.PAIRING,
        "Unknown people who write directly: get a code for you to approve, are let in by list only, all come in as "
        "strangers, or nobody writes directly.",
    )
    group_policy: GroupPolicy = setting(
        GroupPolicy.ALLOWLIST, "Groups in which Hob answers: those of `groups`, all, or none."
    )
    allow: list[str] = setting([], "Who may write, as channel:id; `channel:*` lets everybody in as a stranger.")
    deny: list[str] = setting([], "Who may not, whatever else says they may.")
    groups: list[str] = setting([], "Groups in which Hob answers, as channel:id.")
    group_strangers: bool = setting(False, "Unknown people are answered in such groups too.")
    mention: bool = setting(True, "In groups Hob answers only when it is meant.")
    names: list[str] = setting([], "Words that mean Hob in groups, beside the platform's own mentions.")
    trigger: str = setting("", "Only messages that begin with this word are for Hob; it is taken off; empty: all are.")
    passphrase: Secret | None = setting(None, "A sender who sends /pass and this word directly is let in for a while.")
    passphrase_hours: float = setting(12.0, "Hours for which the passphrase lets somebody in.", at_least=0.01)
    drop_unauthorized: bool = setting(True, "Say nothing to people who may not come in.")
    messages_per_minute: int = setting(30, "Messages one sender may send in a minute.", at_least=1)
    strangers_per_minute: int = setting(20, "Messages all unknown senders of an account may send.", at_least=1)
    attachments: int = setting(10, "Most files that come with one message.", at_least=0)
    attachment_bytes: int = setting(LARGEST_FILE, "Largest such file.", at_least=0)
    attachment_types: list[str] = setting(_MEDIA, "Kinds of files that are taken, told by their bytes.")
    unauthenticated: list[str] = setting(
        ["email", "sms", "webhook"],
        "Channels on which a sender's name proves nothing: every writer there counts as a stranger.",
    )
    person_sessions: bool = setting(True, "One conversation with each person, whichever channel they write on.")
    limits: ActionLimits = setting(ActionLimits(), "How often Hob may act for one sender.")
    channels: dict[str, ChannelAdmission] = setting({}, "What differs on a channel, or an account as channel@account.")

    def __post_init__(self) -> None:
        for key, entries in (("allow", self.allow), ("deny", self.deny), ("groups", self.groups)):
            for entry in entries:
                _check(key, entry)


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """What holds at one account of one channel."""

    dm: DmPolicy
    group: GroupPolicy
    mention: bool
    trigger: str


def policy_of(settings: AdmissionSettings, origin: Address) -> AdmissionPolicy:
    """What holds where this message came from: the account's word, else the channel's, else everybody's."""
    at = [settings.channels.get(f"{origin.channel}@{origin.account}"), settings.channels.get(origin.channel)]
    here = [each for each in at if each is not None]
    return AdmissionPolicy(
        DmPolicy(_first([each.dm_policy for each in here], settings.dm_policy.value)),
        GroupPolicy(_first([each.group_policy for each in here], settings.group_policy.value)),
        next((each.mention for each in here if each.mention is not None), settings.mention),
        next((each.trigger for each in here if each.trigger is not None), settings.trigger),
    )


def _first(words: Sequence[str], otherwise: str) -> str:
    return next((word for word in words if word), otherwise)


def _check(key: str, entry: str) -> None:
    try:
        SenderAddress.parse(entry)
    except ValueError as error:
        raise ValueError(joined(": ", (key, str(error)))) from None
