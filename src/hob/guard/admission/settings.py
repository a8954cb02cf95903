"""Settings of admission: who may talk to Hob, how much, with which files; passphrase, pairing, limits."""

from collections.abc import Sequence
from enum import StrEnum

from hob.core.content.file_limits import LARGEST_FILE
from hob.core.messages import Address
from hob.core.settings import Secret, setting
from hob.core.translation.language import join_texts
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
    """Treatment of unknown people who write to Hob directly."""

    PAIRING = "pairing"
    ALLOWLIST = "allowlist"
    OPEN = "open"
    DISABLED = "disabled"


class GroupPolicy(StrEnum):
    """The groups in which Hob answers."""

    ALLOWLIST = "allowlist"
    OPEN = "open"
    DISABLED = "disabled"


_DM = ("", *(policy.value for policy in DmPolicy))
_GROUP = ("", *(policy.value for policy in GroupPolicy))


@dataclass(frozen=True, slots=True)
class ChannelAdmission:
    """Overrides for one channel. An empty field means the general setting."""

    dm_policy: str = setting("", "Value of admission.dm_policy on this channel; not set: the general one.", one_of=_DM)
    group_policy: str = setting(
        "", "Value of admission.group_policy on this channel; not set: the general one.", one_of=_GROUP
    )
    mention: bool | None = setting(None, "Value of admission.mention on this channel; not set: the general one.")
    trigger: str | None = setting(None, "Value of admission.trigger on this channel; not set: the general one.")


@dataclass(frozen=True, slots=True)
class ActionLimits:
    """How often one sender may make Hob act on the world. Read-only calls are not counted."""

    apps: dict[str, int] = setting(
        {"mail": 3, "calendar": 10}, "Maximum actions per minute for one sender, by app.", at_least=0
    )
    per_minute: int = setting(30, "Maximum actions per minute for one sender with any other app.", at_least=1)
    spike: int = setting(
        10,
        "Actions per minute, in all apps together, above which all actions for the sender are blocked for a while.",
        at_least=1,
    )
    cooldown_seconds: float = setting(300.0, "Seconds for which they are blocked.", at_least=0)


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """Who may talk to Hob. The terminal and the API are always yours."""

    dm_policy: DmPolicy = setting(
        DmPolicy.PAIRING,
        "Unknown people who write to Hob directly: pairing gives them a code for you to approve, allowlist "
        "refuses them, open lets them in as strangers, disabled refuses everybody but you.",
    )
    group_policy: GroupPolicy = setting(
        GroupPolicy.ALLOWLIST,
        "Groups in which Hob answers: those in `groups` (allowlist), all (open), none (disabled).",
    )
    allow: list[str] = setting(
        [], "Senders who are let in, as channel:id; `channel:*` lets everybody in as a stranger."
    )
    deny: list[str] = setting([], "Senders who are refused, as channel:id; takes precedence over everything else.")
    groups: list[str] = setting([], "Groups in which Hob answers, as channel:id.")
    group_strangers: bool = setting(False, "Whether Hob answers unknown people in those groups.")
    mention: bool = setting(True, "Whether Hob answers in groups only when it is mentioned.")
    names: list[str] = setting(
        [], "Names that count as mentioning Hob, anywhere in a group message; ignored if `trigger` is set."
    )
    trigger: str = setting(
        "",
        "Word that a message for Hob must begin with unless it mentions Hob; removed before Hob reads it; "
        "not set: not required.",
    )
    passphrase: Secret | None = setting(
        None, "Passphrase that lets a sender in for a while; it is sent in a direct chat, after /pass."
    )
    passphrase_hours: float = setting(12.0, "Hours for which the passphrase lets a sender in.", at_least=0.01)
    drop_unauthorized: bool = setting(True, "Do not answer people who are not let in.")
    messages_per_minute: int = setting(30, "Maximum messages per minute from one sender.", at_least=1)
    strangers_per_minute: int = setting(
        20, "Maximum messages per minute from all unknown senders of an account together.", at_least=1
    )
    attachments: int = setting(10, "Maximum number of files per message.", at_least=0)
    attachment_bytes: int = setting(LARGEST_FILE, "Maximum size of a file, in bytes.", at_least=0)
    attachment_types: list[str] = setting(_MEDIA, "Accepted file types, detected from the content.")
    unauthenticated: list[str] = setting(
        ["email", "sms", "webhook"],
        "Channels whose senders can be forged: everybody who writes there counts as a stranger.",
    )
    person_sessions: bool = setting(True, "Whether a person has one conversation across all channels.")
    limits: ActionLimits = setting(ActionLimits(), "How often Hob may act for one sender.")
    channels: dict[str, ChannelAdmission] = setting(
        {}, "Overrides for a channel, or for one account as channel@account."
    )

    def __post_init__(self) -> None:
        for key, entries in (("allow", self.allow), ("deny", self.deny), ("groups", self.groups)):
            for entry in entries:
                _check(key, entry)


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """The admission policy of one account of one channel."""

    dm: DmPolicy
    group: GroupPolicy
    mention: bool
    trigger: str


def policy_of(settings: AdmissionSettings, origin: Address) -> AdmissionPolicy:
    """Return the policy for the message's origin: the account's setting, else the channel's, else the general one."""
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
        raise ValueError(join_texts(": ", (key, str(error)))) from None
