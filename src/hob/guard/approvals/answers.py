"""Answers to approval questions: their syntax (`approve:ID`, yes, no), and who may give them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import field
from enum import StrEnum

from hob.core.ids import ApprovalId
from hob.core.messages import TOKEN_SENDER_PREFIX, UNKNOWN_TIME, Inbound
from hob.core.translation.language import translatable
from hob.core.trust.labels import Origin, SenderClass
from hob.core.values import dataclass
from hob.store.approvals import Approval

NEVER_ANSWERS = frozenset({"mail", "email", "imap", "sms", "webhook", "webhooks", "stdin", "rss", "cron", "kafka"})
"""Channels on which the sender can be forged."""

AUTHENTICATING = frozenset(
    {"local", "api", "web", "telegram", "signal", "whatsapp", "slack", "discord", "matrix", "msteams"}
)
"""Channels that authenticate the sender."""

_ANSWER = re.compile(
    r"/?(approve|allow|deny)[ \t]*[: \t][ \t]*(a_[0-9a-z]{1,32})(?:[ \t]+(once|session|always))?[.!]?", re.IGNORECASE
)
_ATTEMPT = re.compile(
    r"(?:/(approve|allow|deny)(?:[ \t:]+(.*))?|(approve|allow|deny):(?:(\S.*)|[ \t]*(\S*)))", re.IGNORECASE
)
_YES, _NO = frozenset({"yes", "ja"}), frozenset({"no", "nein"})


class ApprovalScope(StrEnum):
    """The extent of an approval."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    """An answer. `id` is None for a bare yes or no; otherwise it is the id, normalised if it has the form of one.

    `typed` is the id as written.
    """

    allowed: bool
    id: ApprovalId | None = None
    scope: ApprovalScope = ApprovalScope.ONCE
    typed: str = field(default="", compare=False)


def parse_answer(text: str) -> ApprovalReply | None:
    """Parse a message that is nothing but an answer; return None for everything else.

    Accepts `approve:ID` or `deny:ID`, optionally followed by `session` or `always`, or a bare yes or no (ja, nein).
    Anything ambiguous is not an answer: no "ok", no "sure", no thumbs up. A text in this form is an answer even if its
    id names no question, since it cannot mean anything else.
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
    """Normalise an id. Its alphabet lacks o, i and l, so these are read as the digits they resemble."""
    return "a_" + id[2:].lower().translate(str.maketrans("oil", "011"))


def may_answer(inbound: Inbound, further: Collection[str] = (), *, scoped: bool = False) -> str:
    """Return why this message cannot answer a question, or "" if it can.

    `further` are additional channels that the owner considers authenticated. `scoped` means that the message came with
    a token valid for one chat only.
    """
    channel = inbound.origin.channel
    if inbound.sender.cls is not SenderClass.OWNER:
        return "only the owner answers that"
    if channel in NEVER_ANSWERS or channel not in AUTHENTICATING | set(further):
        return translatable("{channel} does not prove who writes; do that where Hob knows you", channel=channel)
    if scoped or inbound.sender.id.startswith(TOKEN_SENDER_PREFIX):
        return "this token is good for chat only, and not for approval"
    if not inbound.label.trusted or inbound.label.origin is not Origin.OWNER or inbound.hops or inbound.background:
        return "that is not what you wrote yourself"
    return ""


def choose_question(
    answer: ApprovalReply, inbound: Inbound, waiting: Sequence[Approval], *, in_doubt: bool = False
) -> ApprovalId | None:
    """Return the id of the session's question that is answered, or None if that is uncertain.

    `waiting` are the open questions. A bare word counts only in a direct chat with exactly one of them, asked before
    the word was written. `in_doubt` means that a question of the model is open, or that someone has written since.
    """
    if answer.id is not None:
        return answer.id
    if inbound.group or in_doubt or len(waiting) != 1 or inbound.quoted or inbound.attachments:
        return None
    (only,) = waiting
    if inbound.sent_at != UNKNOWN_TIME and inbound.sent_at.timestamp() < only.asked:
        return None
    return only.id
