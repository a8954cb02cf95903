"""The ports of the guard: admission, and judging calls."""

from typing import Protocol

from hob.core.messages import Inbound, Sender
from hob.core.tools import ToolCall, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.turns import Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Allow:
    """Do it. `rule` names the rule that said so."""

    rule: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the owner first."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not."""

    rule: str
    reason: str


Verdict = Allow | Ask | Deny


class Judge(Protocol):
    """Decides about one call from labels and arguments, never from the model's words."""

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        """The verdict for this call in a context of this trust. Never raises."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The message may come in, from this sender, so classified; `inbound` is how, where it had to be changed."""

    sender: Sender
    classification: str = ""
    inbound: Inbound | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The message may not come in. `line` is told to the sender; empty says nothing."""

    reason: str
    line: str = ""


class Admission(Protocol):
    """Decides who a sender is and whether the message may come in."""

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        """Judge by rule; no model, no I/O."""
