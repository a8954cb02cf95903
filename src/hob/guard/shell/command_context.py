"""One command and where it stands, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import NamedTuple

from hob.core.tools import Effect
from hob.core.values import dataclass
from hob.guard.shell.arguments import Args
from hob.guard.shell.commands import SimpleCommand
from hob.guard.shell.places import PathResolver, ShellPlace

# What was found in a command.

NO_EFFECTS: frozenset[Effect] = frozenset()


class ShellSeverity(IntEnum):
    """What is to be done about it; the greatest of all findings counts."""

    PLAIN = 0  # nothing: it is told for its effects
    ASK = 1  # ask the owner, and deny it to everybody else
    REFUSE = 2  # never, no matter who asks and whatever is approved


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


class RuleInput(NamedTuple):
    """What a rule looks at. `refusals` tells what is never to be done of a text that the command runs as a command."""

    command: SimpleCommand
    map: PathResolver
    refusals: Callable[[str, RuleInput], Iterator[ShellFinding]]

    @property
    def name(self) -> str:
        """The program's name without its directory."""
        return self.command.name

    @property
    def args(self) -> Args:
        """The arguments."""
        return self.command.argv[1:]

    def place(self, path: str) -> ShellPlace:
        """What kind of place a path in this command leads to."""
        return self.map.place(path, self.command.directory)

    def resolve(self, path: str) -> str:
        """The path without `.` and `..`."""
        return self.map.resolve(path, self.command.directory)

    def refuse(self, rule: str, reason: str) -> ShellFinding:
        """Never."""
        return ShellFinding(ShellSeverity.REFUSE, rule, reason, self._text())

    def ask(self, rule: str, reason: str, effects: frozenset[Effect] = NO_EFFECTS, hosts: Args = ()) -> ShellFinding:
        """Ask the owner."""
        return ShellFinding(ShellSeverity.ASK, rule, reason, self._text(), effects, hosts)

    def note(self, rule: str, reason: str, effects: frozenset[Effect], hosts: Args = ()) -> ShellFinding:
        """Plain, but it has effects."""
        return ShellFinding(ShellSeverity.PLAIN, rule, reason, self._text(), effects, hosts)

    def _text(self) -> str:
        return self.command.text or self.command.line()


Rule = Callable[[RuleInput], Iterator[ShellFinding]]
Rules = dict[str, Rule]
