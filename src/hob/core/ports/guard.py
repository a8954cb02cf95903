"""Ports of the guard: admission of messages and judgement of calls."""

from typing import Protocol

from hob.core.messages import Inbound, Sender
from hob.core.tools import ToolCall, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.turns import Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may be made. `rule` names the rule that decided."""

    rule: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The owner must approve the call first."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deny:
    """The call may not be made."""

    rule: str
    reason: str


Verdict = Allow | Ask | Deny


class Judge(Protocol):
    """Decides on calls by labels and arguments, never by the model's words."""

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        """Return the verdict for this call in a context of this trust. Never raises."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The message is admitted, with its sender and classification; `inbound` replaces a message that had to change."""

    sender: Sender
    classification: str = ""
    inbound: Inbound | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The message is refused. `line` is sent to the sender unless it is empty."""

    reason: str
    line: str = ""


class Admission(Protocol):
    """Identifies senders and decides whether to admit their messages."""

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        """Decide by rules, without a model or I/O."""
