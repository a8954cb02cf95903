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
    """How to treat unknown people who write to Hob directly."""

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
    """Differences on one channel; an empty field means the same as everywhere."""

    dm_policy: str = setting("", "As admission.dm_policy; not set: the same.", one_of=_DM)
    group_policy: str = setting("", "As admission.group_policy; not set: the same.", one_of=_GROUP)
    mention: bool | None = setting(None, "As admission.mention; not set: the same.")
    trigger: str | None = setting(None, "As admission.trigger; not set: the same.")


@dataclass(frozen=True, slots=True)
class ActionLimits:
    """How often one sender may make Hob act on the world. Read-only calls are not counted."""

    apps: dict[str, int] = setting(
        {"mail": 3, "calendar": 10}, "Most actions a minute for one sender, by app.", at_least=0
    )
    per_minute: int = setting(30, "Most actions a minute with any other app.", at_least=1)
    spike: int = setting(
        10, "More actions a minute than this, in all apps together, stop all actions for a while.", at_least=1
    )
    cooldown_seconds: float = setting(300.0, "For how many seconds they stop.", at_least=0)


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """Who may talk to Hob. The terminal and the API are always yours."""

    dm_policy: DmPolicy = setting(
        DmPolicy.PAIRING,
        "Unknown people who write to Hob directly: pairing gives them a code for you to approve, allowlist "
        "refuses them, open lets them in as strangers, disabled refuses everybody.",
    )
    group_policy: GroupPolicy = setting(
        GroupPolicy.ALLOWLIST,
        "Groups in which Hob answers: those in `groups` (allowlist), all (open), none (disabled).",
    )
    allow: list[str] = setting([], "Who may write, as channel:id; `channel:*` lets everybody in as a stranger.")
    deny: list[str] = setting([], "Who may not write; this wins over everything else.")
    groups: list[str] = setting([], "Groups in which Hob answers, as channel:id.")
    group_strangers: bool = setting(False, "Whether Hob answers unknown people in those groups.")
    mention: bool = setting(True, "Whether Hob answers in groups only when it is mentioned.")
    names: list[str] = setting([], "Words that mention Hob in groups, besides the platform's own mentions.")
    trigger: str = setting(
        "", "The word that messages for Hob must begin with; it is removed; not set: none is needed."
    )
    passphrase: Secret | None = setting(
        None, "A person who sends Hob /pass and this word in a direct chat is let in for a while."
    )
    passphrase_hours: float = setting(12.0, "Hours for which the passphrase lets somebody in.", at_least=0.01)
    drop_unauthorized: bool = setting(True, "Do not answer people who are not let in.")
    messages_per_minute: int = setting(30, "Messages one sender may send in a minute.", at_least=1)
    strangers_per_minute: int = setting(
        20, "Messages a minute that all unknown senders of an account may send together.", at_least=1
    )
    attachments: int = setting(10, "Most files with one message.", at_least=0)
    attachment_bytes: int = setting(LARGEST_FILE, "Largest such file, in bytes.", at_least=0)
    attachment_types: list[str] = setting(_MEDIA, "Kinds of files that are accepted, judged by their content.")
    unauthenticated: list[str] = setting(
        ["email", "sms", "webhook"],
        "Channels on which a sender's name proves nothing: everybody who writes there counts as a stranger.",
    )
    person_sessions: bool = setting(True, "One conversation with each person, whichever channel they write on.")
    limits: ActionLimits = setting(ActionLimits(), "How often Hob may act for one sender.")
    channels: dict[str, ChannelAdmission] = setting(
        {}, "What differs on a channel, or on one account as channel@account."
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
