"""What was found in a command."""

from dataclasses import dataclass
from enum import IntEnum

from hob.core.tools import Effect

NO_EFFECTS: frozenset[Effect] = frozenset()


class ShellSeverity(IntEnum):
    """What is to be done about it; the greatest of all findings counts."""

    PLAIN = 0  # nothing: it is told for its effects
    ASK = 1  # ask the owner, and deny it to everybody else
    REFUSE = 2  # never, whoever asks and whatever is approved


@dataclass(frozen=True, slots=True)
class ShellFinding:
    """One thing found: the rule that found it, why it matters, and the piece of text it is about.

    `effects` are what it does beyond running in the sandbox; `hosts` whom it communicates with, as far as the text
    says.
    """

    severity: ShellSeverity
    rule: str
    reason: str
    text: str
    effects: frozenset[Effect] = NO_EFFECTS
    hosts: tuple[str, ...] = ()


def severity(findings: tuple[ShellFinding, ...]) -> ShellSeverity:
    """The greatest severity of all; plain where nothing was found."""
    return max((finding.severity for finding in findings), default=ShellSeverity.PLAIN)
