"""Answers to questions for approval: how they are written (`approve:ID`, yes, no), and who may give them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import field
from enum import StrEnum

from hob.core.ids import ApprovalId
from hob.core.messages import TOKEN_SENDER, UNKNOWN_TIME, Inbound
from hob.core.translation.language import translatable
from hob.core.trust.labels import Origin, SenderClass
from hob.core.values import dataclass
from hob.store.approvals import Approval

NEVER_ANSWERS = frozenset({"mail", "email", "imap", "sms", "webhook", "webhooks", "stdin", "rss", "cron", "kafka"})
"""Channels on which anybody may write in anybody's name."""

AUTHENTICATING = frozenset(
    {"local", "api", "web", "telegram", "signal", "whatsapp", "slack", "discord", "matrix", "msteams"}
)
"""Channels that know who writes."""

_ANSWER = re.compile(
    r"/?(approve|allow|deny)[ \t]*[: \t][ \t]*(a_[0-9a-z]{1,32})(?:[ \t]+(once|session|always))?[.!]?", re.IGNORECASE
)
_ATTEMPT = re.compile(
    r"(?:/(approve|allow|deny)(?:[ \t:]+(.*))?|(approve|allow|deny):(?:(\S.*)|[ \t]*(\S*)))", re.IGNORECASE
)
_YES, _NO = frozenset({"yes", "ja"}), frozenset({"no", "nein"})


class ApprovalScope(StrEnum):
    """How far an approval reaches."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    """What somebody answered; `id` is None for a bare yes or no, and whatever was written where an id should be.

    `typed` is the id as it was written.
    """

    allowed: bool
    id: ApprovalId | None = None
    scope: ApprovalScope = ApprovalScope.ONCE
    typed: str = field(default="", compare=False)


def parse_answer(text: str) -> ApprovalReply | None:
    """The answer that a message is, alone and whole; None for everything else.

    `approve:ID`, `deny:ID`, with `session` or `always` behind it, or a bare yes or no (ja, nein). Nothing that could be
    said for another reason counts: no "ok", no "sure", no thumb. What is written as such an answer and names no
    question is one all the same, to a question that is not there: no one else can make anything of it.
    """
    text = text.strip(" \t\r\n")
    found = _ANSWER.fullmatch(text)
    if found is not None:
        scope = ApprovalScope((found[3] or "once").lower())
        return ApprovalReply(found[1].lower() != "deny", ApprovalId(_plain(found[2])), scope, found[2])
    tried = _ATTEMPT.fullmatch(text)
    if tried is not None:
        typed = next(filter(None, tried.group(2, 4, 5)), "").strip()
        return ApprovalReply((tried[1] or tried[3]).lower() != "deny", ApprovalId(typed), typed=typed)
    word = text.removesuffix(".").removesuffix("!").lower()
    if word in _YES or word in _NO:
        return ApprovalReply(word in _YES)
    return None


def _plain(id: str) -> str:
    """An id as it was made: its alphabet has no o, i or l, so what looks like them is a digit."""
    return "a_" + id[2:].lower().translate(str.maketrans("oil", "011"))


def may_answer(inbound: Inbound, further: Collection[str] = (), *, scoped: bool = False) -> str:
    """Why this message cannot answer a question; empty where it can.

    `further` are channels that the owner says authenticate; `scoped`: it came by a token that is valid for one chat.
    """
    channel = inbound.origin.channel
    if inbound.sender.cls is not SenderClass.OWNER:
        return "only the owner answers that"
    if channel in NEVER_ANSWERS or channel not in AUTHENTICATING | set(further):
        return translatable("{channel} does not prove who writes; answer where Hob knows you", channel=channel)
    if scoped or inbound.sender.id.startswith(TOKEN_SENDER):
        return "this token is good for chat only, and not for approval"
    if not inbound.label.trusted or inbound.label.origin is not Origin.OWNER or inbound.hops or inbound.background:
        return "that is not what you wrote yourself"
    return ""


def choose(
    answer: ApprovalReply, inbound: Inbound, waiting: Sequence[Approval], *, in_doubt: bool = False
) -> ApprovalId | None:
    """The question of the message's session that it answers; None where that is not beyond doubt.

    `waiting` are the open ones. A bare word counts in a direct chat with exactly one of them, asked before the word was
    written, and is `in_doubt` where a question of the model's stands or anybody has said anything since.
    """
    if answer.id is not None:
        return answer.id
    if inbound.group or in_doubt or len(waiting) != 1 or inbound.quoted or inbound.attachments:
        return None
    (only,) = waiting
    if inbound.sent_at != UNKNOWN_TIME and inbound.sent_at.timestamp() < only.asked:
        return None
    return only.id
