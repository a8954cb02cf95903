"""Findings, and the command and paths that a rule judges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import IntEnum
from typing import NamedTuple

from hob.core.tools import Effect
from hob.core.values import dataclass
from hob.guard.shell.arguments import Args
from hob.guard.shell.commands import SimpleCommand
from hob.guard.shell.places import PathResolver, ShellPlace

# Findings.

NO_EFFECTS: frozenset[Effect] = frozenset()


class ShellSeverity(IntEnum):
    """The consequence of a finding. The highest severity of a command counts."""

    PLAIN = 0  # nothing; the finding only reports effects
    ASK = 1  # asks the owner; denied for everyone else
    REFUSE = 2  # never allowed, regardless of sender and approvals


@dataclass(frozen=True, slots=True)
class ShellFinding:
    """A finding: its rule, the reason, and the text it concerns.

    `effects` are effects beyond running in the sandbox; `hosts` are the remote hosts, as far as the text names them.
    """

    severity: ShellSeverity
    rule: str
    reason: str
    text: str
    effects: frozenset[Effect] = NO_EFFECTS
    hosts: tuple[str, ...] = ()


def severity(findings: tuple[ShellFinding, ...]) -> ShellSeverity:
    """Return the highest severity; PLAIN without findings."""
    return max((finding.severity for finding in findings), default=ShellSeverity.PLAIN)


class RuleInput(NamedTuple):
    """The input of a rule. `refusals` yields the refusals that apply if the command runs a text as a shell command."""

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
        """Classify a path as seen from this command."""
        return self.map.place(path, self.command.directory)

    def resolve(self, path: str) -> str:
        """Return the absolute path without `.` and `..`."""
        return self.map.resolve(path, self.command.directory)

    def refuse(self, rule: str, reason: str) -> ShellFinding:
        """Return a REFUSE finding."""
        return ShellFinding(ShellSeverity.REFUSE, rule, reason, self._text())

    def ask(self, rule: str, reason: str, effects: frozenset[Effect] = NO_EFFECTS, hosts: Args = ()) -> ShellFinding:
        """Return an ASK finding."""
        return ShellFinding(ShellSeverity.ASK, rule, reason, self._text(), effects, hosts)

    def note(self, rule: str, reason: str, effects: frozenset[Effect], hosts: Args = ()) -> ShellFinding:
        """Return a PLAIN finding that reports effects."""
        return ShellFinding(ShellSeverity.PLAIN, rule, reason, self._text(), effects, hosts)

    def _text(self) -> str:
        return self.command.text or self.command.line()


Rule = Callable[[RuleInput], Iterator[ShellFinding]]
Rules = dict[str, Rule]

# Rules that judge a program whatever its arguments are, except for harmless ones.

_INFORMS: Collection[Args] = (("--help",), ("--version",))


def asks(
    rule: str,
    reason: str,
    effects: frozenset[Effect] = NO_EFFECTS,
    *,
    unless: Collection[Args] = _INFORMS,
    hosts: Callable[[Args], Args] = lambda _args: (),
) -> Rule:
    """Return a rule that asks. `hosts` finds the remote hosts among the arguments."""

    def judge(rule_input: RuleInput) -> Iterator[ShellFinding]:
        if rule_input.args not in unless:
            yield rule_input.ask(rule, reason, effects, hosts(rule_input.args))

    return judge


def refuses(rule: str, reason: str, *, unless: Collection[Args] = _INFORMS) -> Rule:
    """Return a rule that refuses."""

    def judge(rule_input: RuleInput) -> Iterator[ShellFinding]:
        if rule_input.args not in unless:
            yield rule_input.refuse(rule, reason)

    return judge
